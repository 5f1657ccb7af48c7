import PersistenceDriver

/// A context that stores everything in memory: for tests and caches, and as the reference implementation of requests.
///
/// Snapshots are copy-on-write. A commit publishes the transaction's copy. Nothing is durable.
public final class MemoryContext: ObservableContext, MemoryReader {
  /// The name of the store, for messages: `memory:` and a random number.
  public let location = "memory:" + String(UInt32.random(in: 0 ... .max), radix: 16)

  /// The monitor of the context.
  public let monitor: ContextMonitor

  /// Whether the store is known to be complete.
  public var isKnownComplete: Bool { monitor.isKnownComplete }

  /// The observers of the context's commits.
  public let observers = CommitObservers()

  private let state = Lock<MemoryState?>(MemoryState())
  private let gate = WriterGate()
  private let busyTimeout: Duration

  /// Creates an empty store.
  ///
  /// - Parameters:
  ///   - busyTimeout: The time a writer waits for another; 5 seconds by default.
  ///   - monitoring: The settings of the monitor.
  public init(busyTimeout: Duration = .seconds(5), monitoring: Monitoring = Monitoring()) {
    self.busyTimeout = busyTimeout
    monitor = ContextMonitor(monitoring, location: location, store: nil)
    monitor.opened("memory")
  }

  /// Not durable, for one process, with unique indexes only.
  public let capabilities = Capabilities(
    isDurable: false, isMultiProcess: false, evaluatesPredicates: true, hasSecondaryIndexes: false,
    dropsModels: true, reportsCommits: true, writesInParallel: false, replays: false)

  func readableState() throws -> MemoryState {
    guard let state = state.withLock({ $0 }) else { throw PersistenceError.closed("the memory context") }
    return state
  }

  /// Pins the newest state, in constant time.
  public func snapshot() throws -> any StorageSnapshot {
    MemorySnapshot(try readableState(), location: location)
  }

  /// Runs a closure as one transaction on a copy of the state, which the commit publishes.
  public func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    try gate.withEntry(timeout: busyTimeout, location: location) {
      let transaction = MemoryTransaction(try readableState(), location: location)
      defer { transaction.end() }
      let observed = observers.begin(transaction)
      try body(observed.transaction)
      try observers.commit(observed) {
        try state.withLock { state in
          guard state != nil else { throw PersistenceError.closed("the memory context") }
          state = transaction.state
        }
      }
    }
    monitor.reportLongHeldResults()
  }

  /// Discards the state; live results keep their copies.
  public func close() throws {
    state.withLock { $0 = nil }
    observers.end(of: self)
  }
}

extension StorageEngine {
  /// Stores in memory, with the scheme `memory:`; each opening creates a new, empty store.
  public static let memory = StorageEngine(
    scheme: "memory",
    options: [StoreOption("busy", .duration, "how long a writer waits for another")]
  ) { url, options, monitoring in
    guard url.path.isEmpty else {
      throw PersistenceError(
        .invalidURL, "a store in memory has no path; remove “\(url.path)”", location: "\(url)")
    }
    return MemoryContext(busyTimeout: options.duration("busy") ?? .seconds(5), monitoring: monitoring)
  }
}
