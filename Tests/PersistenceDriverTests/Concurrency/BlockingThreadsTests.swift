import Dispatch
import PersistenceDriver
import PersistenceDriverSupport
import Synchronization
import Testing

@Suite("Blocking threads", .timeLimit(.minutes(1)))
struct BlockingThreadsTests {
  @Test("every call runs once, on no more threads than the limit")
  func limit() async throws {
    let threads = BlockingThreads("test", limit: 3)
    let sum = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<1000 { group.addTask { try await threads.run { number } } }
      var sum = 0
      for try await number in group { sum += number }
      return sum
    }
    #expect(sum == 499_500)
    await threads.close()
  }

  @Test("calls that wait for each other all get a thread, also of threads that were idle")
  func meeting() async throws {
    let (threads, count) = (BlockingThreads("test", limit: 8), 8)
    for _ in 0..<200 {
      let meeting = Meeting(of: count)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<count {
          group.addTask { try await threads.run { meeting.join() } }
        }
        try await group.waitForAll()
      }
    }
    await threads.close()
  }

  @Test("a call that waits can be cancelled or time out, and a full queue is busy")
  func waiting() async throws {
    let threads = BlockingThreads("test", limit: 1, queueLimit: 1)
    let (started, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let running = Task {
      try await threads.run {
        started.signal()
        gate.wait()
        return 1
      }
    }
    await BlockingThread.run { () -> Void in started.wait() }
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await threads.run {}
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    let late = await #expect(throws: PersistenceError.self) {
      try await threads.run(within: .milliseconds(10)) {}
    }
    #expect(late?.code == .timedOut)
    let excess = await #expect(throws: PersistenceError.self) { try await threads.run {} }
    #expect(excess?.code == .busy)
    running.cancel()
    gate.signal()
    #expect(try await running.value == 1)
  }

  @Test("W5 a call that is cancelled as it begins has either not run, or returns its result")
  func cancelledAtTheStart() async throws {
    let threads = BlockingThreads("test", limit: 2)
    for _ in 0..<2_000 {
      let hasRun = Atomic(false)
      let call = Task { try await threads.run { hasRun.store(true, ordering: .sequentiallyConsistent) } }
      let canceller = Task.detached { call.cancel() }
      let result = await call.result
      await canceller.value
      if case .failure = result {
        let isUntouched = !hasRun.load(ordering: .sequentiallyConsistent)
        #expect(isUntouched)
      }
    }
    await threads.close()
  }

  @Test("closing finishes the calls that run, and rejects all others")
  func closing() async throws {
    let threads = BlockingThreads("test", limit: 1)
    #expect(try await threads.run { 1 } == 1)
    await threads.close()
    let error = await #expect(throws: PersistenceError.self) { try await threads.run {} }
    #expect(error?.code == .closed)
  }

  @Test("tasks can prefer the threads as their executor")
  func executor() async throws {
    let threads = BlockingThreads("test", limit: 2)
    let task = Task(executorPreference: threads) { () -> Int in
      await Task.yield()
      return 9
    }
    #expect(await task.value == 9)
  }
}

/// A meeting that begins when all of its threads have come.
private final class Meeting: Sendable {
  private let count: Int
  private let arrived = Atomic(0)
  private let gate = DispatchSemaphore(value: 0)

  init(of count: Int) { self.count = count }

  /// Blocks the thread until the last one has come.
  func join() {
    let isLast = arrived.add(1, ordering: .sequentiallyConsistent).newValue == count
    guard isLast else { return gate.wait() }
    for _ in 1..<count { gate.signal() }
  }
}
