import PersistenceCore
import PersistenceDriver

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
