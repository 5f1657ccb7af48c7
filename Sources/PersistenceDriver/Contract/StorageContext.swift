/// A store of models: a database, a directory, memory, or another framework's object graph.
///
/// A model's static members receive a context and cast it to a type they know. A context that does not support the
/// model causes an error with code ``PersistenceError/Code/incompatibleContext`` (contract E1). Contexts that store
/// rows conform to ``StorageContext``.
public protocol PersistentContext: AnyObject, Sendable {
  /// The context as one that stores rows; nil if it is of another kind.
  ///
  /// Every call reads it. A cast to a protocol would take a large part of the time of a point read.
  var asStorageContext: (any StorageContext)? { get }
}

extension PersistentContext {
  /// Nil: the context does not store rows.
  public var asStorageContext: (any StorageContext)? { nil }
}

extension StorageContext {
  /// The context itself.
  public var asStorageContext: (any StorageContext)? { self }
}

/// A context that stores rows: the contract that every engine fulfills.
///
/// A context reads the newest committed state, creates snapshots and runs transactions. It knows requests and rows,
/// never models. An engine rejects a request that it cannot answer with ``PersistenceError/Code/unsupported``, and
/// declares what it lacks in its ``capabilities``.
///
/// The requirements of the contract have no default implementations. An engine without a better way calls a named
/// fallback of `PersistenceDriverSupport`, such as `schemaFromCatalog(named:)`. The public protocols of the driver
/// have only these defaults, each of which is complete as it is:
///
/// | default | answer | complete because |
/// |---|---|---|
/// | ``PersistentContext/asStorageContext`` | nil; the context itself in a ``StorageContext`` | conformance decides the answer |
/// | ``PersistentValueConvertible/isPersistentOptional`` | false; true in `Optional` | no other type has a nil |
/// | ``PersistentValueConvertible`` of raw-representable and integer types | the raw value's or the integer's | a type conforms only to get it |
/// | requirements of wrapper protocols | forwarded to `wrapped` | a wrapper changes only what it overrides |
/// | `wrap(_:)` of wrapper protocols | its argument | nothing is added |
/// | `checkUnread()` of result wrappers | nothing, if the wrapped results are not ``CheckedResults`` | these need no check |
/// | `RowChangingWrapper`'s selections, aggregates and plans | computed from its own `fetch(_:)` | they see the changed rows |
public protocol StorageContext: PersistentContext, StorageReader {
  /// Where the store is, without secrets: for messages and logs.
  var location: String { get }

  /// The engine's capabilities.
  var capabilities: Capabilities { get }

  /// The context's monitor: logging, results that pin snapshots, and failures while iterating.
  var monitor: ContextMonitor { get }

  /// Whether the store is known to be complete, as ``monitor`` remembers.
  ///
  /// Every call reads it. A driver returns ``ContextMonitor/isKnownComplete``; as a requirement of the context, it
  /// avoids contended reference counts of the monitor.
  var isKnownComplete: Bool { get }

  /// Pins the newest committed state of the store.
  ///
  /// - Throws: ``PersistenceError``.
  func snapshot() throws -> any StorageSnapshot

  /// Runs a closure as one transaction, which commits when the closure returns and rolls back when it throws.
  ///
  /// After the call returns, the transaction survives a kill of the process and, at the default durability, a power
  /// failure (contract W5).
  ///
  /// An engine with one writer at a time runs every transaction as an exclusive one. A wrapper forwards the mode.
  ///
  /// - Parameters:
  ///   - mode: Whether other writers run beside the closure, which may then run more than once.
  ///   - body: The work.
  /// - Throws: The closure's error; ``PersistenceError`` with code ``PersistenceError/Code/busy`` if another writer
  ///   did not finish within the busy time-out, or a replayable transaction met conflicts until then; and
  ///   ``PersistenceError/Code/insideTransaction`` if this thread is already in a transaction of this context.
  func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws

  /// Closes the store as soon as all live results are released. Further calls throw
  /// ``PersistenceError/Code/closed``; closing twice has no effect.
  ///
  /// - Throws: ``PersistenceError`` if the store could not be closed cleanly.
  func close() throws
}

extension StorageContext {
  /// Runs a closure once as one transaction, which excludes the other writers of the store.
  ///
  /// - Parameter body: The work.
  /// - Throws: As ``transaction(_:_:)`` does.
  public func transaction(_ body: (any StorageTransaction) throws -> Void) throws {
    try transaction(.exclusive, body)
  }

  /// Checks that no unfinished copy is filling the store.
  ///
  /// Repositories call it before they read or write. It reads the catalog once, unless the opening has: a store found
  /// complete counts as complete until a copy into it begins in this process, which notes it in ``monitor``.
  /// Code that resumes a copy calls the context instead of a repository.
  @inlinable
  package func requireComplete() throws {
    if isKnownComplete { return }
    try checkCompleteness()
  }

  @usableFromInline
  func checkCompleteness() throws {
    if !monitor.isCheckedComplete { try requireCompleteNow() }
  }

  /// The same by reading the catalog now: another process may have begun a copy since the last time.
  package func requireCompleteNow() throws {
    let count = monitor.fillCount
    try requireFinished(at: location)
    monitor.noteComplete(before: count)
  }
}

extension StorageReader {
  /// Throws if the reader sees a store that a copy has not finished filling.
  package func requireFinished(at location: String) throws {
    guard try !holdsUnfinishedMigration() else { throw PersistenceError.incompleteStore(location) }
  }

  /// Whether the reader sees a store that a copy has not finished filling.
  package func holdsUnfinishedMigration() throws -> Bool {
    guard let schema = try schema(named: ReservedModel.fillLedger) else { return false }
    // A context that cannot drop models keeps an empty ledger after the copy finished.
    return try count(FetchRequest(schema)) > 0
  }
}

extension PersistenceError {
  /// A store that a copy has not finished filling.
  package static func incompleteStore(_ location: String) -> PersistenceError {
    PersistenceError(
      .incompleteStore,
      "an interrupted migration left the store with only part of its records; resume or restart the migration",
      location: location)
  }
}
