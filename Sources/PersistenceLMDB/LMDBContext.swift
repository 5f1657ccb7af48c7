public import PersistenceDriver
import PersistenceKeyValue
public import PersistenceDriverSupport

/// A context that stores models in LMDB: a folder with a memory-mapped file.
///
/// Rows are read in place, in the map. Readers never wait for a writer, nor a writer for readers. One writer
/// at a time, of all processes, is active; others wait. A process opens a store once, whatever contexts and
/// links refer to it.
///
/// A forked process must not use a context of its parent. LMDB's locks do not work on network file systems.
///
/// ```swift
/// let context = try LMDBContext(path: "movies.lmdb")
/// ```
public final class LMDBContext: ObservableContext, SinglePassContext {
  /// The folder's path with links resolved.
  public let location: String

  /// Durable and multi-process, with predicates evaluated in place and secondary indexes.
  public let capabilities: Capabilities

  /// The observers of the store's commits.
  public let observers: CommitObservers

  /// The monitor of the context.
  public let monitor: ContextMonitor

  /// Whether the monitor knows that the store is complete.
  public var isKnownComplete: Bool { monitor.isKnownComplete }

  private let configuration: LMDBConfiguration
  private let session: Lock<LMDBSession?>
  private let slots: LMDBReaderSlots

  /// Opens a store, and creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - path: The folder, absolute or relative to the working directory.
  ///   - configuration: The options.
  /// - Throws: ``PersistenceError``: `missingStore` if the parent folder does not exist, or the store does
  ///   not and must not be created; `notAStore` if the path refers to something else; `damaged`; `readOnly`
  ///   if the store is not writable and was not opened for reading only; `accessDenied`; `storeFull`; `busy`.
  public init(path: String, configuration: LMDBConfiguration = LMDBConfiguration()) throws {
    let opening = ContextMonitor(configuration.monitoring, location: path)
    let session = try LMDBRegistry.open(path, configuration, opening)
    location = session.environment.files.directory
    monitor =
      location.utf8.elementsEqual(path.utf8)
      ? opening : ContextMonitor(configuration.monitoring, location: location)
    observers = session.environment.observers
    capabilities = .lmdb(
      isReadOnly: configuration.isReadOnly, largestStore: session.environment.mapSize)
    self.configuration = configuration
    self.session = Lock(session)
    slots = LMDBReaderSlots(count: session.environment.slotLimit)
    session.environment.register(slots)
    monitor.opened("LMDB, a map of \(session.environment.mapSize) bytes")
  }

  deinit { for slot in slots.close() { slot.end() } }

  private func openSession() throws -> LMDBSession {
    guard let session = session.withLock({ $0 }) else { throw PersistenceError.closed("the LMDB context") }
    return session
  }

  private func withReader<Result>(_ body: (KeyValueStore, LMDBReader) throws -> Result) throws -> Result {
    let slot = try acquireSlot()
    defer { release(slot) }
    return try slot.use(body)
  }

  private func acquireSlot() throws -> LMDBReaderSlot {
    if let slot = slots.take() {
      if slot.renew() { return slot }
      slot.session.environment.discard(slot.reader)
    }
    let session = try openSession()
    return LMDBReaderSlot(try session.environment.acquireReader(), session)
  }

  private func release(_ slot: consuming LMDBReaderSlot) {
    slot.reset()
    slots.give(slot)?.end()
  }

  /// The schemas of all models, sorted by name.
  public func catalog() throws -> [ModelSchema] { try withReader { try $0.catalog($1) } }

  /// No objects: every key belongs to a model.
  public func unmappedObjects() throws -> [UnmappedObject] { [] }

  /// The schema of one model; cached after the first call.
  public func schema(named name: String) throws -> ModelSchema? {
    try withReader { try $0.schema(StoredName(name), $1) }
  }

  /// Looks up a record by its key: one descent of the tree, in a pooled read transaction.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    // Without a closure, which would retain what it captures.
    let slot = try acquireSlot()
    defer { release(slot) }
    return try slot.find(key, in: schema, body)
  }

  /// The number of rows of a request: constant time for a whole model, otherwise a scan of an index or of
  /// records in place.
  public func count(_ request: FetchRequest) throws -> Int { try withReader { try $0.count(request, $1) } }

  /// The rows of a request, from a snapshot of the newest state.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults { try snapshot().fetch(request) }

  /// Some fields of the rows of a request.
  ///
  /// Other fields are not decoded, and no record is read if an index contains all fields.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try snapshot().fetch(request, selecting: positions)
  }

  /// Passes on the rows of a request with a limit, in a pooled read transaction.
  package func readOnce(_ request: FetchRequest, _ body: (borrowing Row) throws -> Void) throws -> Int? {
    guard request.limit != nil else { return nil }
    let slot = try acquireSlot()
    defer { release(slot) }
    return try slot.store.passOn(request, slot.reader, body)
  }

  /// Aggregates rows: from the ends or entries of an index if one serves, otherwise from the requested fields
  /// of each row.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try withReader { try $0.aggregate(request, $1) }
  }

  /// The plan of a request.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    try withReader { try $0.plan(for: request, $1) }
  }

  /// The cost of a change of schema: only new indexes, computed values and erased fields take time.
  public func cost(of change: SchemaChange) throws -> EvolutionCost {
    try withReader { try $0.cost(of: change, $1) }
  }

  /// The indexes of a model that wait to be built.
  public func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] {
    try withReader { try $0.unbuiltIndexes(of: schema, $1) }
  }

  /// The plan of a request for some fields.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try withReader { try $0.plan(for: request, selecting: positions, $1) }
  }

  /// A snapshot of the newest committed state; snapshots of one version share read transactions.
  public func snapshot() throws -> any StorageSnapshot {
    let session = try openSession()
    return try session.environment.snapshot(session)
  }

  /// Runs a closure as one transaction, as the only writer of all processes.
  ///
  /// A thread inside a transaction of one context must not begin one of another context of the same store.
  public func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    try withExtendedLifetime(try openSession()) { session in
      guard !configuration.isReadOnly else { throw PersistenceError.readOnly(location) }
      let environment = session.environment
      try environment.write(configuration) { writer, commit in
        let transaction = KeyValueTransaction(environment.store, writer)
        var committed: Int?
        defer { transaction.end(committedAs: committed) }
        let observed = environment.observers.begin(transaction)
        try body(observed.transaction)
        try transaction.finish()
        try environment.observers.commit(observed) { try environment.commits.committing(commit) }
        committed = writer.handle.newestTransaction
      }
    }
    monitor.reportLongHeldResults()
  }

  /// Closes the store for this context; the file is closed when the last result is released.
  ///
  /// Live results stay valid and keep the store open. A transaction in progress in another thread completes.
  public func close() throws {
    let closed = try session.withLock { session in
      guard let open = session else { return nil as LMDBSession? }
      guard !open.environment.gate.isEnteredByThisThread else {
        throw PersistenceError.insideTransaction(location)
      }
      session = nil
      return open
    }
    for slot in slots.close() { slot.end() }
    observers.end(of: self)
    // Released outside the lock: the last reference closes the file.
    _ = closed
  }
}
