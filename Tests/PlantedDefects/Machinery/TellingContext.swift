import PersistenceCore
import PersistenceDriverSupport

/// An in-memory context that reports to its observers itself, as an engine's author writes it.
///
/// It runs each transaction once and rolls it back, then runs it again inside the commit.
final class TellingContext: ObservableContext, StorageReaderWrapper {
  /// The deviations from correct reporting.
  struct Telling: Sendable {
    /// Commits and reports.
    var commit: @Sendable (CommitObservers, ObservedTransaction, () throws -> Void) throws -> Void = {
      try $0.commit($1, $2)
    }
    /// Chooses the transaction for the closure, from the correct one and the engine's own.
    var wrap: @Sendable (any StorageTransaction, any StorageTransaction) -> any StorageTransaction = {
      observed, _ in observed
    }
    /// Called when the closure of a transaction has thrown.
    var undone: @Sendable (CommitObservers, ObservedTransaction) throws -> Void = { _, _ in }
    /// Whether closing ends the observers.
    var endsWithTheContext = true
  }

  private let engine: MemoryContext
  private let telling: Telling
  private let gate = WriterGate()
  let monitor: ContextMonitor
  let observers = CommitObservers()
  var isKnownComplete: Bool { monitor.isKnownComplete }

  init(_ engine: MemoryContext, _ monitoring: Monitoring, _ change: (inout Telling) -> Void = { _ in }) {
    self.engine = engine
    monitor = ContextMonitor(monitoring, location: engine.location)
    var telling = Telling()
    change(&telling)
    self.telling = telling
  }

  var wrappedReader: any StorageReader { engine }
  var location: String { engine.location }
  var capabilities: Capabilities { engine.capabilities }
  func snapshot() throws -> any StorageSnapshot { try engine.snapshot() }

  func close() throws {
    try engine.close()
    if telling.endsWithTheContext { observers.end(of: self) }
  }

  private struct Tried: Error {}

  func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    try gate.withEntry(timeout: .seconds(5), location: location) {
      let writes = WriteRecorder()
      var trial: ObservedTransaction?
      do {
        try engine.transaction(mode) { transaction in
          let own = RecordedTransaction(transaction, writes)
          let observed = observers.begin(own)
          trial = observed
          try body(telling.wrap(observed.transaction, own))
          throw Tried()
        }
      } catch is Tried {
      } catch {
        if let trial { try telling.undone(observers, trial) }
        throw error
      }
      guard let trial else { return }
      try telling.commit(observers, trial) {
        try engine.transaction(mode) { transaction in
          for write in writes.all { try write.apply(to: transaction) }
        }
      }
    }
    monitor.reportLongHeldResults()
  }
}
