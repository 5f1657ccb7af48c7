package import PersistenceCore
import Synchronization
import PersistenceDriverSupport

/// A context that wraps another one, counts the rows that are read, and fails on request.
///
/// It forwards everything except the reading of results.
package final class ObservedContext: StorageContextWrapper {
  package let wrapped: any StorageContext
  private let state = Mutex(State())

  private struct State {
    var rowsRead = 0
    var failure: (afterRows: Int, error: PersistenceError)?
  }

  package let monitor: ContextMonitor
  package var isKnownComplete: Bool { monitor.isKnownComplete }

  /// Wraps a context; a monitoring gives it a monitor of its own.
  package init(_ wrapped: any StorageContext, monitoring: Monitoring? = nil) {
    self.wrapped = wrapped
    monitor = monitoring.map { ContextMonitor($0, location: wrapped.location) } ?? wrapped.monitor
  }

  package var rowsRead: Int { state.withLock(\.rowsRead) }

  /// Makes reading fail after a number of further rows; nil ends that.
  package func fail(afterRows rows: Int?, with error: PersistenceError? = nil) {
    state.withLock { state in
      state.rowsRead = 0
      state.failure = rows.map { ($0, error ?? PersistenceError(.inputOutput, "the medium failed")) }
    }
  }

  fileprivate func willReadRow() throws {
    try state.withLock { state in
      if let failure = state.failure, state.rowsRead >= failure.afterRows { throw failure.error }
      state.rowsRead += 1
    }
  }

  package func wrap(_ results: any StorageResults, of request: FetchRequest) -> any StorageResults {
    ObservedResults(results, self)
  }
}

private final class ObservedResults: StorageResultsWrapper {
  let wrapped: any StorageResults
  private let context: ObservedContext

  init(_ wrapped: any StorageResults, _ context: ObservedContext) {
    self.wrapped = wrapped
    self.context = context
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    try wrapped.read(from: offset, limit: limit) { row in
      try context.willReadRow()
      try body(row)
    }
  }
}
