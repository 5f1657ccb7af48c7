public import PersistenceDriver
public import PersistenceDriverSupport

/// A context over an engine that stores bytes by ordered keys: see ``OrderedStore``.
///
/// It keeps records in key order, with secondary indexes, a planner, changes of schema and builds of waiting indexes.
/// The context keeps the store open as long as results live. Its observers get the commits of other contexts, also of
/// the same process, without keys.
///
/// ```swift
/// let context = try OrderedStoreContext(MyStore(path: "movies.store"))
/// ```
public final class OrderedStoreContext: ObservableContext, VerifiableContext, KeyValueReading,
  SinglePassContext
{
  /// The store's location.
  public let location: String

  /// Predicates evaluated on stored bytes, secondary indexes, and what the configuration says of the store.
  public let capabilities: Capabilities

  /// The observers of the store's commits.
  public let observers: CommitObservers

  /// The monitor of the context.
  public let monitor: ContextMonitor

  /// Whether the monitor knows that the store is complete.
  public var isKnownComplete: Bool { monitor.isKnownComplete }

  /// The records and indexes; throws if the context is closed.
  package var store: KeyValueStore {
    get throws { try session().records }
  }

  private let busyTimeout: Duration
  private let gate = WriterGate()
  private let commits: CommitCounter
  private let open: Lock<Session?>

  /// The open engine.
  ///
  /// The context holds it until it closes, a snapshot as long as it lives.
  private struct Session {
    let engine: any OrderedStore
    let records: KeyValueStore
  }

  private struct WeakEngine {
    weak var engine: (any OrderedStore)?
  }

  /// Opens a context over an open store.
  ///
  /// An empty store becomes one of this package with its first write.
  ///
  /// - Parameters:
  ///   - engine: The store, which no other context uses.
  ///   - configuration: What the context knows of the store, and its options.
  /// - Throws: ``PersistenceDriver/PersistenceError``: `notAStore` if the store contains other data,
  ///   `invalidRequest` if its longest key is out of range, and the store's own errors.
  public init(
    _ engine: any OrderedStore, configuration: OrderedStoreConfiguration = OrderedStoreConfiguration()
  )
    throws
  {
    location = engine.location
    guard 128...65_535 ~= engine.longestKey else {
      throw PersistenceError(
        .invalidRequest,
        "an ordered store needs keys of 128 to 65,535 bytes, and this one accepts \(engine.longestKey)",
        location: location)
    }
    let reader = try OrderedReader(engine)
    if try !Catalog.isNew(reader) { try Catalog.check(reader, location: location) }
    capabilities = Capabilities(configuration)
    monitor = ContextMonitor(configuration.monitoring, location: location)
    busyTimeout = configuration.busyTimeout
    let known = Lock(WeakEngine(engine: engine))
    commits = CommitCounter {
      // A closed context has no observers.
      try known.withLock(\.engine).map { UInt64(truncatingIfNeeded: try OrderedReader($0).version) } ?? 0
    }
    observers = CommitObservers(outside: configuration.isMultiProcess ? commits : nil)
    let building = IndexBuilding(
      memory: max(1 << 12, configuration.indexMemory), folder: configuration.indexFolder)
    open = Lock(
      Session(engine: engine, records: KeyValueStore(location: location, indexBuilding: building)))
    monitor.opened("an ordered store")
  }

  private func session() throws -> Session {
    guard let session = open.withLock({ $0 }) else {
      throw PersistenceError.closed("the context").at(location: location)
    }
    return session
  }

  package func withReader<Result>(_ body: (any ByteReader) throws -> Result) throws -> Result {
    try body(OrderedReader(try session().engine))
  }

  /// The rows of a request, from a snapshot of the newest state.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults { try snapshot().fetch(request) }

  /// Some fields of the rows of a request; no record is read if an index contains all fields.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try snapshot().fetch(request, selecting: positions)
  }

  /// Passes on the rows of a request with a limit.
  package func readOnce(_ request: FetchRequest, _ body: (borrowing Row) throws -> Void) throws -> Int? {
    guard request.limit != nil else { return nil }
    return try withReader { try store.passOn(request, $0, body) }
  }

  /// A snapshot of the newest committed state.
  public func snapshot() throws -> any StorageSnapshot {
    let session = try session()
    return OrderedSnapshot(session.records, try OrderedReader(session.engine))
  }

  /// Runs a closure as one transaction, as the only writer of all processes.
  public func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    _ = try session()
    guard !capabilities.isReadOnly else { throw PersistenceError.readOnly(location) }
    let deadline = ContinuousClock.now + busyTimeout
    try gate.withEntry(timeout: busyTimeout, location: location) {
      let session = try session()
      guard let writer = try OrderedWriter(session.engine, until: deadline) else {
        throw PersistenceError.busy(location, waited: busyTimeout)
      }
      defer { writer.end() }
      let transaction = KeyValueTransaction(session.records, writer)
      var committed: Int?
      defer { transaction.end(committedAs: committed) }
      let observed = observers.begin(transaction)
      try body(observed.transaction)
      try transaction.finish()
      guard writer.isChanged else { return }
      try observers.commit(observed) { try commits.committing { try writer.commit() } }
      committed = writer.version + 1
    }
    monitor.reportLongHeldResults()
  }

  /// Reads every record with all its values, and reports those that cannot be read.
  public func verify(_ report: (StoreFinding) throws -> Void) throws {
    try snapshot().verifyByReading(report)
  }

  /// Closes the context; the store is released with the last live result.
  ///
  /// Live results stay valid. A transaction in progress in another thread completes.
  public func close() throws {
    guard !gate.isEnteredByThisThread else { throw PersistenceError.insideTransaction(location) }
    // Released outside the lock: this may be the last reference.
    let closed = open.withLock { session in
      defer { session = nil }
      return session
    }
    observers.end(of: self)
    withExtendedLifetime(closed) {}
  }
}
