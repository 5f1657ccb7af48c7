import DataAccessTesting
import Foundation
import Testing

@Suite("Test clock")
struct TestClockTests {
  @Test("sleepers wake in order, when the clock passes their deadlines")
  func order() async throws {
    let clock = TestClock()
    let (woken, woke) = AsyncStream.makeStream(of: Int.self)
    let tasks = [30, 10, 20].map { seconds in
      Task {
        try await clock.sleep(for: .seconds(seconds))
        woke.yield(seconds)
      }
    }
    await clock.sleepers(3)
    clock.advance(by: .seconds(9))
    #expect(clock.sleeperCount == 3)
    var iterator = woken.makeAsyncIterator()
    for seconds in [10, 20, 30] {
      clock.advance(by: seconds == 10 ? .seconds(1) : .seconds(10))
      #expect(await iterator.next() == seconds)
    }
    for task in tasks { try await task.value }
    #expect(clock.now.offset == .seconds(30))
    #expect(clock.date == Date(timeIntervalSinceReferenceDate: 30))
  }

  @Test("a cancelled sleeper wakes at once, even if it was cancelled before it slept")
  func cancellation() async throws {
    let clock = TestClock()
    let task = Task { try await clock.sleep(for: .seconds(1)) }
    await clock.sleepers(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.sleeperCount == 0)
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.sleep(for: .seconds(1))
    }
    await #expect(throws: CancellationError.self) { try await late.value }
  }
}
