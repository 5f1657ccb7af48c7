#if HTTP
  import PersistenceDriver
  import Synchronization

  /// The memory of all answers that clients have not received yet.
  ///
  /// Above its limit, the server produces no further bytes until clients have received some.
  final class AnswerBudget: Sendable {
    private struct State {
      var used = 0
      var waiting: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
      var lastNumber = 0
    }

    private let limit: Int
    private let gauge: ServerGauge
    private let state = Mutex(State())

    /// Creates a budget of a number of bytes, whose use a gauge shows.
    init(_ limit: Int, gauge: ServerGauge = ServerGauge()) { (self.limit, self.gauge) = (limit, gauge) }

    /// The number of bytes that clients have not received yet.
    var used: Int { state.withLock(\.used) }

    /// The number of answers that wait.
    var waiting: Int { state.withLock(\.waiting.count) }

    /// Whether waiting would suspend now.
    var isFull: Bool { used >= limit }

    /// Waits until the answers are within the budget, or throws the interruption's error.
    func wait(_ interruption: ReadInterruption) async throws {
      let handler = Mutex<Int?>(nil)
      defer { if let number = handler.withLock(\.self) { interruption.forget(number) } }
      try await withCheckedThrowingContinuation { continuation in
        let number = state.withLock { state -> Int? in
          guard state.used >= limit else { return nil }
          state.lastNumber += 1
          state.waiting.append((state.lastNumber, continuation))
          return state.lastNumber
        }
        guard let number else {
          continuation.resume()
          return
        }
        let registered = interruption.whenRequested { [self] error in
          let continuation = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
          }
          continuation?.resume(throwing: error)
        }
        handler.withLock { $0 = registered }
      }
    }

    /// Adds bytes that were produced.
    func add(_ count: Int) {
      state.withLock { $0.used += count }
      gauge.add(count)
    }

    /// Removes bytes that were received or discarded.
    func remove(_ count: Int) {
      gauge.add(-count)
      let ready = state.withLock { state in
        state.used -= count
        guard state.used < limit else { return state.waiting.prefix(0) }
        // Each continues with some bytes, so few at a time keep the answers close to the budget.
        let ready = state.waiting.prefix(2)
        state.waiting.removeFirst(ready.count)
        return ready
      }
      for waiter in ready { waiter.continuation.resume() }
    }
  }
#endif
