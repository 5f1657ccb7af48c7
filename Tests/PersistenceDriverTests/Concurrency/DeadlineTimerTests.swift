import Dispatch
import PersistenceDriver
import PersistenceDriverSupport
import Testing

@Suite("Timers", .timeLimit(.minutes(1)))
struct DeadlineTimerTests {
  private final class Held: Sendable {}

  @Test("a timer ends at its deadline, also behind timers that began earlier and end later")
  func order() async {
    let (ends, continuation) = AsyncStream.makeStream(of: String.self)
    let late = DeadlineTimer(after: .seconds(600)) { continuation.yield("late") }
    let early = DeadlineTimer(after: .milliseconds(10)) { continuation.yield("early") }
    for await end in ends {
      #expect(end == "early")
      break
    }
    late.cancel()
    early.cancel()
  }

  @Test("a closure that blocks does not delay another timer")
  func blocking() async {
    let (ends, continuation) = AsyncStream.makeStream(of: Bool.self)
    let gate = DispatchSemaphore(value: 0)
    let first = DeadlineTimer(after: .milliseconds(1)) {
      gate.wait()
      continuation.yield(true)
    }
    let second = DeadlineTimer(after: .milliseconds(20)) {
      continuation.yield(false)
      gate.signal()
    }
    var found: [Bool] = []
    for await end in ends {
      found.append(end)
      if found.count == 2 { break }
    }
    #expect(found == [false, true])
    first.cancel()
    second.cancel()
  }

  @Test("a cancelled timer releases its closure at once, and never ends; those behind it do")
  func cancelled() async {
    let clock = ContinuousClock()
    var isInTime = false
    while !isInTime {
      let (ends, continuation) = AsyncStream.makeStream(of: String.self)
      let start = clock.now
      weak var held: Held?
      var timers: [DeadlineTimer] = []
      do {
        let object = Held()
        held = object
        timers = (0..<5000).map { number in
          DeadlineTimer(after: .milliseconds(500 + number % 7)) {
            _ = object
            continuation.yield("cancelled")
          }
        }
      }
      for timer in timers.shuffled() + timers { timer.cancel() }
      let isReleased = held == nil
      // On a machine that stands still, they may have ended before.
      isInTime = clock.now - start < .milliseconds(400)
      guard isInTime else { continue }
      #expect(isReleased)
      let last = DeadlineTimer(after: .milliseconds(600)) { continuation.yield("last") }
      for await end in ends {
        #expect(end == "last")
        break
      }
      last.cancel()
    }
  }
}
