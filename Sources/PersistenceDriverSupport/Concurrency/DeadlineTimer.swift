import Dispatch

/// Calls a closure once after a time, unless it is cancelled before.
///
/// All timers of a process share one of the system. Most are cancelled long before their ends, and never change it.
package struct DeadlineTimer {
  private let entry: DeadlineQueue.Entry

  package init(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    entry = DeadlineQueue.shared.add(.now() + time.timeInterval, body)
  }

  package func cancel() { DeadlineQueue.shared.cancel(entry) }
}

/// The closures that wait for their deadlines.
private final class DeadlineQueue: @unchecked Sendable {  // the timer of Dispatch may be set by any thread
  final class Entry: @unchecked Sendable {  // the lock of the queue guards the closure
    let deadline: DispatchTime
    /// Nil when the entry has ended or was cancelled.
    fileprivate var body: (@Sendable () -> Void)?

    init(_ deadline: DispatchTime, _ body: @escaping @Sendable () -> Void) {
      (self.deadline, self.body) = (deadline, body)
    }
  }

  fileprivate struct State {
    /// The entries, ascending by deadline from the position `first` on.
    ///
    /// Most timers have the same time, so most are appended.
    var entries: [Entry] = []
    var first = 0
    var cancelled = 0
    /// The deadline for which the timer is set; nil if it is not.
    var isSetFor: DispatchTime?
  }

  static let shared = DeadlineQueue()

  private let timer = DispatchSource.makeTimerSource()
  private let threads = BlockingThreads("persistence timer", limit: 64)
  private let state = Lock(State())

  private init() {
    timer.setEventHandler { [self] in endDue() }
    timer.schedule(deadline: .distantFuture)
    timer.activate()
  }

  func add(_ deadline: DispatchTime, _ body: @escaping @Sendable () -> Void) -> Entry {
    let entry = Entry(deadline, body)
    state.withLock { state in
      state.insert(entry)
      setTimer(&state)
    }
    return entry
  }

  func cancel(_ entry: Entry) {
    // The closure is released outside the lock.
    let body = state.withLock { state in
      let body = entry.body
      guard body != nil else { return body }
      entry.body = nil
      state.cancelled += 1
      state.removeCancelled()
      return body
    }
    _ = consume body
  }

  private func endDue() {
    let bodies = state.withLock { state in
      state.isSetFor = nil
      let bodies = state.removeDue(.now())
      setTimer(&state)
      return bodies
    }
    // A closure may block, so others do not wait for it unless very many block.
    for body in bodies { threads.release(body) }
  }

  /// Sets the timer for the first entry, unless it is set for an earlier one, which may have been cancelled.
  private func setTimer(_ state: inout State) {
    guard state.first < state.entries.count else { return }
    let deadline = state.entries[state.first].deadline
    if let known = state.isSetFor, known <= deadline { return }
    state.isSetFor = deadline
    timer.schedule(deadline: deadline)
  }
}

extension DeadlineQueue.State {
  mutating func insert(_ entry: DeadlineQueue.Entry) {
    var (low, high) = (first, entries.count)
    if low < high, entries[high - 1].deadline <= entry.deadline { low = high }
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].deadline <= entry.deadline { low = middle + 1 } else { high = middle }
    }
    entries.insert(entry, at: low)
  }

  /// Removes the entries whose deadlines have passed; returns the closures of those that were not cancelled.
  mutating func removeDue(_ now: DispatchTime) -> [@Sendable () -> Void] {
    var bodies: [@Sendable () -> Void] = []
    while first < entries.count, entries[first].deadline <= now {
      if let body = entries[first].body {
        bodies.append(body)
        entries[first].body = nil
      } else {
        cancelled -= 1
      }
      first += 1
    }
    compact()
    return bodies
  }

  /// Removes cancelled entries: those in front, and all of them if they are most.
  mutating func removeCancelled() {
    while first < entries.count, entries[first].body == nil {
      cancelled -= 1
      first += 1
    }
    if cancelled > 64, cancelled > (entries.count - first) / 2 {
      entries.removeSubrange(..<first)
      entries.removeAll { $0.body == nil }
      (first, cancelled) = (0, 0)
    }
    compact()
  }

  private mutating func compact() {
    guard first == entries.count || first > 1024 && first > entries.count / 2 else { return }
    entries.removeSubrange(..<first)
    first = 0
  }
}
