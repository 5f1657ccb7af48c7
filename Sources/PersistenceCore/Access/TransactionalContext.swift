public import PersistenceDriver

/// A context of another framework whose work can be grouped into transactions.
///
/// Contexts that keep rows need not conform: ``StorageContext`` has transactions of its own.
public protocol TransactionalContext: PersistentContext {
  /// Runs a closure as one transaction: committed when it returns, undone when it throws.
  ///
  /// - Parameter body: Is given the context to use inside.
  /// - Throws: What the closure throws, and ``PersistenceError``.
  func transaction(_ body: (any PersistentContext) throws -> Void) throws
}
