import PersistenceCore
public import PersistenceDriver

/// How many entries of an outbox wait, fail and were set aside.
public struct OutboxState: Sendable, Hashable {
  /// The number of waiting entries.
  public var waiting: Int
  /// The number of waiting entries whose last attempt failed.
  public var failed: Int
  /// The number of entries that were set aside.
  public var setAside: Int
  /// The error of the first waiting entry that failed; nil if none did.
  public var error: PersistenceError?

  /// Creates a state.
  public init(waiting: Int, failed: Int, setAside: Int, error: PersistenceError? = nil) {
    (self.waiting, self.failed, self.setAside, self.error) = (waiting, failed, setAside, error)
  }

  /// Whether two states are the same; errors are compared by code and message.
  public static func == (left: OutboxState, right: OutboxState) -> Bool { left.text == right.text }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }

  private var text: [String] {
    ["\(waiting) \(failed) \(setAside)", error?.code.rawValue ?? "", error?.message ?? ""]
  }
}

extension Outbox {
  /// The state of the outbox now, and again after each change of it, by this and other processes.
  ///
  /// A slow consumer gets the newest state. The sequence ends with the errors of observing the local store.
  public var states: DataSourceStream<OutboxState> {
    let writes = writes
    return DataSourceStream { OutboxStates(writes).next }
  }
}

/// One iteration over the states of an outbox.
private final class OutboxStates<Object: PersistentRecord>: @unchecked Sendable {  // one task
  private let writes: LocalFirstWriter<Object>
  private var updates: SequenceIterator<RecordUpdates<OutboxRecord>>?
  private var last: OutboxState?

  init(_ writes: LocalFirstWriter<Object>) { self.writes = writes }

  @Sendable
  func next() async throws(PersistenceError) -> OutboxState? {
    while true {
      let layer = writes.layer
      if updates == nil {
        // The first use of the layer recovers from earlier processes, which may change entries.
        let model = try await layer.use { $0.model }
        updates = SequenceIterator(
          layer.source.repository.updates(of: OutboxRecord.self, where: \.model == model))
      }
      guard let update = try await updates?.next() else { return nil }
      let state = try await layer.source.work { _ in try OutboxState(of: update.results) }
      if state == last { continue }
      last = state
      return state
    }
  }
}

extension OutboxState {
  /// Counts the entries of one snapshot.
  fileprivate init(of records: PersistentResults<OutboxRecord>) throws {
    self.init(waiting: 0, failed: 0, setAside: 0)
    try records.forEach { record in
      if record.isSetAside {
        setAside += 1
        return
      }
      waiting += 1
      guard let failure = record.error else { return }
      failed += 1
      if error == nil { error = failure }
    }
  }
}
