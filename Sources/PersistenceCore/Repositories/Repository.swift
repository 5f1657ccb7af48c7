public import PersistenceDriver
import PersistenceDriverSupport

/// A repository over one context, made by hand or named by a URL.
public struct Repository: PersistentRepository {
  /// The context behind the repository.
  public let context: any PersistentContext

  /// Wraps a context.
  public init(_ context: any PersistentContext) { self.context = context }

  /// Opens the store that a URL names.
  ///
  /// ```swift
  /// let repository = try Repository(
  ///   opening: "sqlite:movies.sqlite?synchronous=full", engines: [.sqlite, .lmdb, .json])
  /// ```
  ///
  /// - Parameters:
  ///   - url: `scheme:path?option=value&…`.
  ///   - engines: The engines that the URL may name; `memory:` is always among them.
  ///   - monitoring: What the context watches and where it reports.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` where scheme, option or value
  ///   is unknown, listing the known ones, and whatever opening meets.
  public init(opening url: String, engines: [StorageEngine], monitoring: Monitoring = Monitoring()) throws {
    context = try StorageEngine.open(url, engines: engines, monitoring: monitoring)
  }

  /// Runs a closure as one transaction.
  public func transaction<Result>(_ body: (any PersistentRepository) throws -> Result) throws -> Result {
    var result: Result?
    if let inside = context as? TransactionContext {
      let transaction = try inside.transaction()
      try transaction.nested { result = try body(self) }
    } else if let store = context.asStorageContext {
      try TransactionScope.requireOutside(of: store)
      try store.requireComplete()
      try TransactionScope.enter(store) {
        try store.transaction { transaction in
          let inside = TransactionContext(transaction, of: store)
          defer { inside.end() }
          result = try body(Repository(inside))
        }
      }
    } else if let foreign = context as? any TransactionalContext {
      try foreign.transaction { result = try body(Repository($0)) }
    } else {
      throw PersistenceError.unsupported("run transactions", by: "\(type(of: context))")
    }
    guard let result else {
      throw PersistenceError(.engineFailure, "a transaction returned without having run its closure")
    }
    return result
  }

  /// Closes the store, where it is one that can be closed.
  ///
  /// - Throws: ``PersistenceError`` where it could not be brought to rest.
  public func close() throws {
    try context.asStorageContext?.close()
  }
}
