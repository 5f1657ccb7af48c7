import Dispatch
import Synchronization
import PersistenceDriver

/// Lets one writer of a process through at a time, in order of arrival, and no longer than each may wait
/// (contract W6).
///
/// An engine that knows no time-outs, or wakes waiters in any order, puts this gate before its own lock.
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

  /// Makes a gate that is open.
  public init() {}

  /// Whether the calling thread is inside the gate.
  public var isEnteredByThisThread: Bool { state.withLock { $0.owner == ThreadIdentity.current } }

  /// How many writers are waiting.
  package var waitingWriters: Int { state.withLock(\.waiters.count) }

  /// Waits until the calling thread is the one writer.
  ///
  /// Every successful call is followed by one of ``leave()``, on the same thread.
  ///
  /// - Parameters:
  ///   - timeout: How long to wait at most.
  ///   - location: The store, for the message.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/busy`` after the time-out, and
  ///   ``PersistenceError/Code/insideTransaction`` where the thread is already inside.
  public func enter(timeout: Duration, location: String) throws {
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
    // Between the time-out and here the turn may have come after all: then it is taken.
    let isOurs = state.withLock { state in
      state.waiters.removeAll { $0 === waiter }
      return state.owner == thread
    }
    guard isOurs else { throw PersistenceError.busy(location, waited: timeout) }
  }

  /// Lets the writer that has waited longest through.
  public func leave() {
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
  ///   - timeout: How long to wait at most.
  ///   - location: The store, for the message.
  ///   - body: What is done inside.
  /// - Returns: What the closure returns.
  /// - Throws: As ``enter(timeout:location:)``, and what the closure throws.
  public func withEntry<Result>(timeout: Duration, location: String, _ body: () throws -> Result) throws
    -> Result
  {
    try enter(timeout: timeout, location: location)
    defer { leave() }
    return try body()
  }
}

extension Duration {
  /// The duration in seconds.
  package var timeInterval: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
