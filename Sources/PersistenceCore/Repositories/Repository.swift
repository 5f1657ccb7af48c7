public import Foundation
public import PersistenceDriver
import PersistenceDriverSupport

/// A repository over one context, which it receives or opens by URL.
public struct Repository: PersistentRepository {
  /// The context behind the repository.
  public let context: any PersistentContext

  /// Creates a repository over a context.
  public init(_ context: any PersistentContext) { self.context = context }

  /// Opens the store with a URL.
  ///
  /// ```swift
  /// let repository = try Repository(
  ///   opening: "sqlite:movies.sqlite?synchronous=full", engines: [.sqlite, .lmdb, .json])
  /// ```
  ///
  /// - Parameters:
  ///   - url: `scheme:path?option=value&…`.
  ///   - engines: The engines that the URL may name; `memory:` is always available.
  ///   - monitoring: The settings of the context's monitor.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidURL`` and the known values if the
  ///   scheme, an option or a value is unknown, and any error of opening the store.
  public init(opening url: String, engines: [StorageEngine], monitoring: Monitoring = Monitoring()) throws {
    context = try StorageEngine.open(url, engines: engines, monitoring: monitoring)
  }

  /// Opens the store with a URL, and changes it as the declarations of an app need.
  ///
  /// The whole change is one transaction. A store that fits already is opened without a write, in the time of reading
  /// its catalog. Nothing is destroyed: removed fields and models stay in the store, hidden.
  ///
  /// New indexes of models with more than 5,000 records wait for ``finishIndexes(_:)``, except unique ones. Cancelling the
  /// task cancels the opening, and leaves the store as it was.
  ///
  /// - Parameters:
  ///   - url: `scheme:path?option=value&…`.
  ///   - engines: The engines that the URL may name; `memory:` is always available.
  ///   - schema: The models, and the rules of their evolution.
  ///   - monitoring: The settings of the context's monitor.
  ///   - progress: Receives the progress of work on records, on this thread. If it throws, the opening ends with the error,
  ///     and the store is as it was.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` and the differences that need a
  ///   rule, ``PersistenceError/Code/newerStore`` if a newer version of the app has changed the store,
  ///   ``PersistenceError/Code/invalidURL``, the error of a rule's closure or of `progress`, `CancellationError`, and any
  ///   error of opening the store.
  public init(
    opening url: String, engines: [StorageEngine], schema: any StoreSchema.Type,
    monitoring: Monitoring = Monitoring(), progress: (StoreProgress) throws -> Void = { _ in }
  ) throws {
    let context = try StorageEngine.open(url, engines: engines, monitoring: monitoring)
    do {
      try self.init(context, schema: schema, progress: progress)
    } catch {
      try? context.asStorageContext?.close()
      throw error
    }
  }

  /// Creates a repository over a context, and changes its store as the declarations of an app need.
  ///
  /// - Parameters:
  ///   - context: The context.
  ///   - schema: The models, and the rules of their evolution.
  ///   - progress: Receives the progress of work on records.
  /// - Throws: ``PersistenceError``, as ``init(opening:engines:schema:monitoring:progress:)`` does.
  public init(
    _ context: any PersistentContext, schema: any StoreSchema.Type,
    progress: (StoreProgress) throws -> Void = { _ in }
  ) throws {
    guard let store = context.asStorageContext else {
      throw PersistenceError.unsupported("change its schema", by: "\(type(of: context))")
    }
    self.context = context
    let evolution = try StoreEvolution(store, schema)
    try evolution.run(progress)
    store.monitor.keepSchemaRules(evolution.declarations)
  }

  /// Runs a closure as one transaction.
  public func transaction<Result>(
    replayable: Bool, _ body: (any PersistentRepository) throws -> Result
  ) throws -> Result {
    try transaction(replayable ? .replayable : .exclusive, keepsReferences: true, body)
  }

  /// Runs a closure as one transaction; without keeping references, if the store is filled for another one.
  fileprivate func transaction<Result>(
    _ mode: TransactionMode, keepsReferences: Bool, _ body: (any PersistentRepository) throws -> Result
  ) throws -> Result {
    var result: Result?
    if let inside = context as? TransactionContext {
      let transaction = try inside.transaction()
      try inside.nested(transaction) { result = try body(self) }
    } else if let store = context.asStorageContext {
      try TransactionScope.requireOutside(of: store)
      try store.requireComplete()
      try TransactionScope.enter(store) {
        try store.transaction(mode) { transaction in
          try TransactionContext.run(transaction, of: store, keepsReferences: keepsReferences) {
            result = try body(Repository($0))
          }
        }
      }
    } else if let foreign = context as? any TransactionalContext {
      try foreign.transaction { result = try body(Repository($0)) }
    } else {
      throw PersistenceError.unsupported("run transactions", by: "\(type(of: context))")
    }
    guard let result else {
      throw PersistenceError(
        .engineFailure,
        "the context ended a transaction without running its closure; report this to its author")
    }
    return result
  }

  /// Closes the store, if the context stores rows.
  ///
  /// - Throws: ``PersistenceError`` if the store could not be closed cleanly.
  public func close() throws {
    try context.asStorageContext?.close()
  }
}

/// The access of an app to its models, independent of the context.
///
/// Each call is forwarded to the model's static members, which support the context. An app keeps an
/// `any PersistentRepository`; the closure of a transaction receives another one.
public protocol PersistentRepository: Sendable {
  /// The context behind the repository.
  ///
  /// Cast it to use features of one engine: `repository.context as? SQLiteContext`.
  var context: any PersistentContext { get }

  /// Runs a closure as one transaction, which commits when the closure returns and rolls back when it throws
  /// (contract W3).
  ///
  /// The closure uses the repository that it receives. Its reads see its own writes, and a nested transaction that
  /// throws rolls back alone. The outer repository throws inside the closure (R1a).
  ///
  /// A replayable closure may run more than once: where many writers work at once
  /// (``PersistenceDriver/Capabilities/writesInParallel``), it runs beside them, and again if it conflicted with one. So it
  /// does nothing but to read and write through the repository that it receives, and to return its result. Any other
  /// closure runs once, and excludes the other writers of the store. In a nested transaction, the outer one decides.
  ///
  /// - Parameters:
  ///   - replayable: Whether the closure may run more than once.
  ///   - body: The work.
  /// - Returns: The result of the closure.
  /// - Throws: The closure's error; ``PersistenceError`` with code ``PersistenceError/Code/busy`` if another writer did
  ///   not finish within the busy time-out, or a replayable closure met conflicts until then.
  func transaction<Result>(
    replayable: Bool, _ body: (any PersistentRepository) throws -> Result
  ) throws -> Result
}

extension PersistentRepository {
  /// Runs a closure once as one transaction, which excludes the other writers of the store.
  ///
  /// ``transaction(replayable:_:)`` describes transactions, and those that run beside other writers.
  ///
  /// - Parameter body: The work.
  /// - Returns: The result of the closure.
  /// - Throws: The closure's error, and ``PersistenceError``.
  public func transaction<Result>(_ body: (any PersistentRepository) throws -> Result) throws -> Result {
    try transaction(replayable: false, body)
  }

  /// Runs a closure as one transaction that keeps no references, because the store mirrors another one, whose children may
  /// arrive before their parents (contract L9).
  package func mirrorTransaction<Result>(
    replayable: Bool = false, _ body: (any PersistentRepository) throws -> Result
  ) throws -> Result {
    guard let repository = self as? Repository else {
      return try transaction(replayable: replayable, body)
    }
    return try repository.transaction(replayable ? .replayable : .exclusive, keepsReferences: false, body)
  }

  /// Runs a closure as one transaction, unless a batch with this id was applied before.
  ///
  /// The same transaction writes the id to the store, as ``AppliedBatches`` describes. Retries are idempotent: a batch
  /// that is sent again has no effect.
  ///
  /// - Parameters:
  ///   - batch: The id of the batch.
  ///   - replayable: Whether the closure may run more than once, as in ``transaction(replayable:_:)``.
  ///   - body: The work, with the repository to use.
  /// - Returns: Whether the closure ran; false if the batch was applied before.
  /// - Throws: The closure's error; the batch is not applied then. ``PersistenceError`` with code
  ///   ``PersistenceError/Code/unsupported`` if the context does not store rows.
  @discardableResult
  public func applyOnce(
    _ batch: UUID, replayable: Bool = false, _ body: (any PersistentRepository) throws -> Void
  ) throws -> Bool {
    try applyOnce(batch, digest: nil, replayable: replayable, body)
  }

  /// Runs a closure as one transaction, unless a batch with this id was applied before.
  ///
  /// It throws `batchReused` if that batch had another digest.
  package func applyOnce(
    _ batch: UUID, digest: [UInt8]?, isMirror: Bool = false, replayable: Bool = false,
    _ body: (any PersistentRepository) throws -> Void
  ) throws -> Bool {
    func apply(_ inside: any PersistentRepository) throws -> Bool {
      guard let transaction = try (inside.context as? TransactionContext)?.transaction() else {
        throw PersistenceError.unsupported("remember which batches were applied", by: "\(type(of: context))")
      }
      guard try AppliedBatches().record(batch, digest: digest, in: transaction) else { return false }
      try body(inside)
      return true
    }
    return isMirror
      ? try mirrorTransaction(replayable: replayable, apply)
      : try transaction(replayable: replayable, apply)
  }
}
