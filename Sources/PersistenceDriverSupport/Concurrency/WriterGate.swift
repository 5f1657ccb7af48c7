import Dispatch
import Synchronization
import PersistenceDriver

/// Admits one writer of a process at a time, in order of arrival, with a time-out (contract W6).
///
/// An engine whose lock has no time-out or no order of waiters puts this gate before its lock.
public final class WriterGate: Sendable {
  private struct State {
    var owner: ThreadIdentity?
    var waiters: [Waiter] = []
  }

  private final class Waiter: Sendable {
    let thread: ThreadIdentity
    let semaphore = DispatchSemaphore(value: 0)
    init(thread: ThreadIdentity) { self.thread = thread }
  }

  private let state = Mutex(State())

  /// Creates an open gate.
  public init() {}

  /// Whether the calling thread is inside the gate.
  package var isEnteredByThisThread: Bool { state.withLock { $0.owner == ThreadIdentity.current } }

  /// The number of waiting writers.
  package var waitingWriters: Int { state.withLock(\.waiters.count) }

  /// Waits until the calling thread is the only writer.
  ///
  /// Balance each successful call with a call of ``leave()`` on the same thread. Throws
  /// ``PersistenceError/Code/busy`` after the time-out, and ``PersistenceError/Code/insideTransaction`` if the thread
  /// has already entered.
  package func enter(timeout: Duration, location: String) throws {
    let thread = ThreadIdentity.current
    let waiter: Waiter? = try state.withLock { state in
      guard state.owner != thread else { throw PersistenceError.insideTransaction(location) }
      guard state.owner != nil else {
        state.owner = thread
        return nil
      }
      let waiter = Waiter(thread: thread)
      state.waiters.append(waiter)
      return waiter
    }
    guard let waiter else { return }
    if waiter.semaphore.wait(timeout: .now() + timeout.timeInterval) == .success { return }
    // The turn may come between the time-out and this line.
    let isOurs = state.withLock { state in
      state.waiters.removeAll { $0 === waiter }
      return state.owner == thread
    }
    guard isOurs else { throw PersistenceError.busy(location, waited: timeout) }
  }

  /// Admits the writer that has waited longest.
  package func leave() {
    state.withLock { state in
      guard !state.waiters.isEmpty else {
        state.owner = nil
        return
      }
      let next = state.waiters.removeFirst()
      state.owner = next.thread
      next.semaphore.signal()
    }
  }

  /// Runs a closure inside the gate.
  ///
  /// - Parameters:
  ///   - timeout: The maximum time to wait.
  ///   - location: The store, for the message.
  ///   - body: The work inside the gate.
  /// - Returns: The result of the closure.
  /// - Throws: The errors of ``enter(timeout:location:)``, and the closure's error.
  public func withEntry<Result>(timeout: Duration, location: String, _ body: () throws -> Result) throws
    -> Result
  {
    try enter(timeout: timeout, location: location)
    defer { leave() }
    return try body()
  }
}

extension Duration {
  package var timeInterval: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
