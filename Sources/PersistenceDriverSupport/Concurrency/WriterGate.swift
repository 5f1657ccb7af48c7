import Dispatch
import PersistenceDriver

/// Admits one writer of a process at a time, or several that share the gate, in order of arrival and with a time-out
/// (contract W6).
///
/// An engine whose lock has no time-out or no order of waiters puts this gate before its lock. Sharers that arrive behind
/// a waiting exclusive writer wait too, so that none waits for ever.
public final class WriterGate: Sendable {
  private struct State {
    /// The exclusive writer, or ``ThreadIdentity/nobody`` while sharers are inside; nil if the gate is open.
    ///
    /// An exclusive writer looks at nothing else to enter an open gate.
    var owner: ThreadIdentity?
    var sharers: [ThreadIdentity] = []
    var waiters: [Waiter] = []

    /// Whether a thread is inside the gate.
    func contains(_ thread: ThreadIdentity) -> Bool {
      owner == thread || (owner == .nobody && sharers.contains(thread))
    }

    /// Lets a sharer in; returns false if it has to wait behind others.
    mutating func admits(sharer thread: ThreadIdentity, limit: Int) -> Bool {
      guard owner == nil || (owner == .nobody && sharers.count < limit) else { return false }
      owner = .nobody
      sharers.append(thread)
      return true
    }

    /// Lets in whoever has waited longest, and the sharers directly behind a sharer.
    mutating func admitWaiters(limit: Int) {
      while let next = waiters.first {
        if next.isSharer {
          guard admits(sharer: next.thread, limit: limit) else { return }
        } else {
          guard owner == nil else { return }
          owner = next.thread
        }
        waiters.removeFirst()
        next.semaphore.signal()
      }
    }
  }

  private final class Waiter: Sendable {
    let thread: ThreadIdentity
    let isSharer: Bool
    let semaphore = DispatchSemaphore(value: 0)

    init(thread: ThreadIdentity, isSharer: Bool) { (self.thread, self.isSharer) = (thread, isSharer) }
  }

  private let state = Lock(State())
  private let sharerLimit: Int

  /// Creates an open gate.
  public convenience init() { self.init(sharerLimit: .max) }

  /// Creates an open gate that admits a maximum number of sharers at a time.
  package init(sharerLimit: Int) { self.sharerLimit = max(1, sharerLimit) }

  /// Whether the calling thread is inside the gate.
  package var isEnteredByThisThread: Bool { state.withLock { $0.contains(.current) } }

  /// The number of waiting writers.
  package var waitingWriters: Int { state.withLock { $0.waiters.count } }

  /// Waits until the calling thread is the only writer.
  ///
  /// Balance each successful call with a call of ``leave()`` on the same thread. Throws
  /// ``PersistenceError/Code/busy`` after the time-out, and ``PersistenceError/Code/insideTransaction`` if the thread
  /// has already entered.
  package func enter(timeout: Duration, location: String) throws {
    let thread = ThreadIdentity.current
    let waiter: Waiter? = try state.withLock { state in
      guard state.owner != nil else {
        state.owner = thread
        return nil
      }
      guard !state.contains(thread) else { throw PersistenceError.insideTransaction(location) }
      let waiter = Waiter(thread: thread, isSharer: false)
      state.waiters.append(waiter)
      return waiter
    }
    if let waiter { try wait(waiter, timeout, location) }
  }

  /// Waits until no exclusive writer is inside, and none waits before the calling thread.
  ///
  /// Balance each successful call with a call of ``leaveShared()`` on the same thread. It throws as
  /// ``enter(timeout:location:)`` does.
  package func enterShared(timeout: Duration, location: String) throws {
    let thread = ThreadIdentity.current
    let waiter: Waiter? = try state.withLock { state in
      guard !state.contains(thread) else { throw PersistenceError.insideTransaction(location) }
      if state.waiters.isEmpty, state.admits(sharer: thread, limit: sharerLimit) { return nil }
      let waiter = Waiter(thread: thread, isSharer: true)
      state.waiters.append(waiter)
      return waiter
    }
    if let waiter { try wait(waiter, timeout, location) }
  }

  private func wait(_ waiter: Waiter, _ timeout: Duration, _ location: String) throws {
    if waiter.semaphore.wait(timeout: .now() + timeout.timeInterval) == .success { return }
    let wasWaiting = state.withLock { state in
      // The turn may have come after the time-out.
      guard let place = state.waiters.firstIndex(where: { $0 === waiter }) else { return false }
      state.waiters.remove(at: place)
      // Sharers may have waited behind an exclusive writer that gives up.
      state.admitWaiters(limit: sharerLimit)
      return true
    }
    if wasWaiting { throw PersistenceError.busy(location, waited: timeout) }
  }

  /// Ends an exclusive entry, and admits the writer that has waited longest.
  package func leave() {
    state.withLock { state in
      state.owner = nil
      if !state.waiters.isEmpty { state.admitWaiters(limit: sharerLimit) }
    }
  }

  /// Ends a shared entry; the last sharer admits the writer that has waited longest.
  package func leaveShared() {
    let thread = ThreadIdentity.current
    state.withLock { state in
      if let place = state.sharers.firstIndex(of: thread) { state.sharers.remove(at: place) }
      if state.sharers.isEmpty { state.owner = nil }
      state.admitWaiters(limit: sharerLimit)
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

  /// Runs a closure inside the gate, beside other sharers.
  ///
  /// - Parameters:
  ///   - timeout: The maximum time to wait.
  ///   - location: The store, for the message.
  ///   - body: The work inside the gate.
  /// - Returns: The result of the closure.
  /// - Throws: The errors of ``enterShared(timeout:location:)``, and the closure's error.
  public func withSharedEntry<Result>(timeout: Duration, location: String, _ body: () throws -> Result) throws
    -> Result
  {
    try enterShared(timeout: timeout, location: location)
    defer { leaveShared() }
    return try body()
  }
}

extension Duration {
  package var timeInterval: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
