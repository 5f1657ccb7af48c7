public import PersistenceDriver
import PersistenceKeyValue
public import PersistenceDriverSupport

/// A context that keeps models in an LMDB store: a folder with a memory-mapped file.
///
/// Rows are read in place, in the map. Readers never wait for a writer, nor a writer for readers; one writer at a
/// time, of all processes, waits its turn. A process opens a store once, however many contexts and links lead to
/// it.
///
/// A context must not be used in a process that was forked from the one that opened it, and LMDB's locks do not
/// work on network file systems.
///
/// ```swift
/// let context = try LMDBContext(path: "movies.lmdb")
/// ```
public final class LMDBContext: ObservableContext {
  /// The folder's path, without links.
  public let location: String

  /// Durable, for several processes, with predicates evaluated in place and secondary indexes.
  public let capabilities: Capabilities

  /// The observers of the environment's commits.
  public let observers: CommitObservers

  /// What watches over the context.
  public let monitor: ContextMonitor

  /// What the monitor knows.
  public var isKnownComplete: Bool { monitor.isKnownComplete }

  private let configuration: LMDBConfiguration
  private let session: Lock<LMDBSession?>
  private let lanes: LMDBReaderSlots

  /// Opens a store, making it where it does not exist.
  ///
  /// - Parameters:
  ///   - path: The folder, absolute or relative to the working directory.
  ///   - configuration: How it is opened.
  /// - Throws: ``PersistenceError``: `missingStore` where its parent folder does not exist, or the store where it
  ///   is not to be made; `notAStore` where the path leads to something else; `damaged`; `readOnly` where it
  ///   cannot be written to and was not opened for reading only; `accessDenied`; `storeFull`; `busy`.
  public init(path: String, configuration: LMDBConfiguration = LMDBConfiguration()) throws {
    let opening = ContextMonitor(configuration.monitoring, location: path)
    let session = try LMDBRegistry.open(path, configuration, opening)
    location = session.environment.files.directory
    monitor = ContextMonitor(configuration.monitoring, location: location)
    observers = session.environment.observers
    capabilities = .lmdb(
      isReadOnly: configuration.isReadOnly, largestStore: session.environment.mapSize)
    self.configuration = configuration
    self.session = Lock(session)
    lanes = LMDBReaderSlots(count: session.environment.laneLimit)
    session.environment.register(lanes)
    monitor.opened("LMDB, a map of \(session.environment.mapSize) bytes")
  }

  deinit { for lane in lanes.close() { lane.end() } }

  private func openSession() throws -> LMDBSession {
    guard let session = session.withLock({ $0 }) else { throw PersistenceError.closed("the LMDB context") }
    return session
  }

  private func withReader<Result>(_ body: (KeyValueStore, LMDBReader) throws -> Result) throws -> Result {
    let lane = try takeLane()
    defer { giveBack(lane) }
    return try body(lane.store, lane.reader)
  }

  private func takeLane() throws -> LMDBReaderSlot {
    if let lane = lanes.take() {
      if lane.reader.renewed() { return lane }
      lane.session.environment.discard(lane.reader)
    }
    let session = try openSession()
    return LMDBReaderSlot(try session.environment.acquireReader(), session)
  }

  private func giveBack(_ lane: LMDBReaderSlot) {
    lane.reader.reset()
    lanes.give(lane)?.end()
  }

  /// The schemas of all models, sorted by name.
  public func catalog() throws -> [ModelSchema] { try withReader { try $0.catalog($1) } }

  /// None: every key belongs to a model.
  public func unmappedObjects() throws -> [UnmappedObject] { [] }

  /// The schema of one model, which is read once.
  public func schema(named name: String) throws -> ModelSchema? {
    try withReader { try $0.schema(StoredName(name), $1) }
  }

  /// Looks a record up by its key: one descent in the tree, in a transaction from a pool.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try withReader { try $0.find(key, in: schema, $1, body) }
  }

  /// How many rows a request has: constant for a whole model, otherwise a walk over its entries or a scan in
  /// place.
  public func count(_ request: FetchRequest) throws -> Int { try withReader { try $0.count(request, $1) } }

  /// The rows of a request, over a snapshot of the newest state.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults { try snapshot().fetch(request) }

  /// Some fields of the rows of a request; the others are not read, nor are the records where an index holds all
  /// that is asked about.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try snapshot().fetch(request, selecting: positions)
  }

  /// What rows come to, from the ends or the entries of an index where one serves, otherwise by a walk over the
  /// fields that are asked about.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try withReader { try $0.aggregate(request, $1) }
  }

  /// How a request would be answered.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    try withReader { try $0.plan(for: request, $1) }
  }

  /// How a request for some fields would be answered.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try withReader { try $0.plan(for: request, selecting: positions, $1) }
  }

  /// Pins the newest committed state; contexts and results of one version share what pins it.
  public func snapshot() throws -> any StorageSnapshot {
    let session = try openSession()
    return try session.environment.snapshot(session)
  }

  /// Runs a closure as one transaction, as the only writer of all processes.
  ///
  /// A thread that is in a transaction of one context may not begin one of another context of the same store.
  public func transaction(_ body: (any StorageTransaction) throws -> Void) throws {
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
  /// Results that are alive stay valid, since they hold the store open. A transaction under way in another thread
  /// is finished.
  public func close() throws {
    let closed = try session.withLock { session in
      guard let open = session else { return nil as LMDBSession? }
      guard !open.environment.gate.isEnteredByThisThread else {
        throw PersistenceError.insideTransaction(location)
      }
      session = nil
      return open
    }
    for lane in lanes.close() { lane.end() }
    observers.end(of: self)
    // Let go outside of the lock: it may be the last reference, which closes the file.
    _ = closed
  }
}
