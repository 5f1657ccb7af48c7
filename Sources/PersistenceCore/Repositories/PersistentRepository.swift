public import PersistenceDriver

/// Where an app keeps its models, whichever context is behind it.
///
/// Every call is forwarded to the model's static members, which find the code for the context. An app holds an
/// `any PersistentRepository`; inside a transaction it is given another one.
public protocol PersistentRepository: Sendable {
  /// The context behind the repository.
  ///
  /// It gives access to what only that context can do, as in `repository.context as? SQLiteContext`.
  var context: any PersistentContext { get }

  /// Runs a closure as one transaction: committed when it returns, undone when it throws (contract W3).
  ///
  /// Inside, the closure uses the repository that it is given: reads see what was written, and a transaction
  /// within the transaction undoes only its own part where it throws. The outer repository throws when it is
  /// used there (R1a).
  ///
  /// - Parameter body: The work.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws; ``PersistenceError`` with code ``PersistenceError/Code/busy`` where
  ///   another writer did not finish in time.
  func transaction<Result>(_ body: (any PersistentRepository) throws -> Result) throws -> Result
}
