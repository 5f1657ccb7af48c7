import Dispatch
import Foundation
import PersistenceDriverSupport
import Synchronization
import Testing

/// U1: one thread does for many what all of them ask for.
struct SharedTurnTests {
  @Test("U1 work is done once more after the last request, by one thread at a time, with pauses between")
  func requests() {
    let turn = SharedTurn(pause: 0.005)
    let (threads, requests) = (4, 40)
    let asked = Atomic(0)
    let served = Atomic(0)
    let working = Atomic(0)
    let overlaps = Atomic(0)
    let laterTimes = Mutex<[ContinuousClock.Instant]>([])
    let work: @Sendable () -> Void = {
      // The work serves what was asked before it began.
      let seen = asked.load(ordering: .sequentiallyConsistent)
      if Thread.current.name == "persistence observers" { laterTimes.withLock { $0.append(.now) } }
      if working.add(1, ordering: .sequentiallyConsistent).oldValue > 0 {
        overlaps.add(1, ordering: .relaxed)
      }
      usleep(1_000)
      working.subtract(1, ordering: .sequentiallyConsistent)
      served.store(seen, ordering: .sequentiallyConsistent)
    }
    let group = DispatchGroup()
    for _ in 0..<threads {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        for _ in 0..<requests {
          asked.add(1, ordering: .sequentiallyConsistent)
          turn.take(work)
          usleep(300)
        }
      }
    }
    group.wait()
    let deadline = ContinuousClock.now + .seconds(30)
    while served.load(ordering: .sequentiallyConsistent) < threads * requests, .now < deadline {
      usleep(1_000)
    }
    #expect(served.load(ordering: .sequentiallyConsistent) == threads * requests)
    #expect(overlaps.load(ordering: .relaxed) == 0)
    let times = laterTimes.withLock { $0 }
    for (one, next) in zip(times, times.dropFirst()) { #expect(next - one >= .milliseconds(5)) }
  }

  @Test("U1 a single request is served before its call returns")
  func singleRequest() {
    let turn = SharedTurn(pause: 60)
    let served = Atomic(0)
    for number in 1...3 {
      turn.take { served.add(1, ordering: .sequentiallyConsistent) }
      #expect(served.load(ordering: .sequentiallyConsistent) == number)
    }
  }
}
