import PersistenceDriver

/// A context that keeps everything in memory: for tests, for caches, and as the reference for the meaning of
/// every request.
///
/// Snapshots are copies on write; committing publishes a transaction's copy. Nothing is durable.
public final class MemoryContext: ObservableContext, MemoryReader {
  /// The name `memory:`, for messages.
  public let location = "memory:" + String(UInt32.random(in: 0 ... .max), radix: 16)

  /// What watches over the context.
  public let monitor: ContextMonitor

  /// What the monitor knows.
  public var isKnownComplete: Bool { monitor.isKnownComplete }

  /// The observers of the context's commits.
  public let observers = CommitObservers()

  private let state = Lock<MemoryState?>(MemoryState())
  private let gate = WriterGate()
  private let busyTimeout: Duration

  /// Makes an empty store.
  ///
  /// - Parameters:
  ///   - busyTimeout: How long a writer waits for another; 5 seconds by default.
  ///   - monitoring: What is watched and where it is reported.
  public init(busyTimeout: Duration = .seconds(5), monitoring: Monitoring = Monitoring()) {
    self.busyTimeout = busyTimeout
    monitor = ContextMonitor(monitoring, location: location)
    monitor.opened("memory")
  }

  /// Not durable, for one process, without secondary indexes but unique ones.
  public let capabilities = Capabilities(
    isDurable: false, isMultiProcess: false, evaluatesPredicates: true, hasSecondaryIndexes: false,
    dropsModels: true, reportsCommits: true)

  func readableState() throws -> MemoryState {
    guard let state = state.withLock({ $0 }) else { throw PersistenceError.closed("the memory context") }
    return state
  }

  /// Pins the newest state, in constant time.
  public func snapshot() throws -> any StorageSnapshot {
    MemorySnapshot(try readableState(), location: location)
  }

  /// Runs a closure as one transaction on a copy of the state, which is published when it returns.
  public func transaction(_ body: (any StorageTransaction) throws -> Void) throws {
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

  /// Forgets everything; results that are alive keep their copies.
  public func close() throws {
    state.withLock { $0 = nil }
    observers.end(of: self)
  }
}

extension StorageEngine {
  /// Stores in memory, by the scheme `memory:`; every opening makes a new, empty one.
  public static let memory = StorageEngine(
    scheme: "memory",
    options: [StoreOption("busy", .duration, "how long a writer waits for another")]
  ) { url, options, monitoring in
    guard url.path.isEmpty else {
      throw PersistenceError(
        .invalidURL, "a store in memory has no path, “\(url.path)” was given", location: "\(url)")
    }
    return MemoryContext(busyTimeout: options.duration("busy") ?? .seconds(5), monitoring: monitoring)
  }
}
