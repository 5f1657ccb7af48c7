import Dispatch
import Foundation
import Synchronization

/// Threads of their own for checks that suspend, of which a few go on at a time.
///
/// Tests run on the few threads of the cooperative pool, and many of them block. A check that suspended there would go on
/// behind all that waits for those threads, perhaps minutes later, which its watchdog takes for a context that hangs.
final class CheckThreads: TaskExecutor {
  static let shared = CheckThreads(count: 4)

  private struct Turns {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let jobs = Mutex<[UnownedJob]>([])
  private let more = DispatchSemaphore(value: 0)
  private let turns = Mutex(Turns(free: 2))

  private init(count: Int) {
    for _ in 0..<count {
      Thread.detachNewThread { [self] in
        while true {
          more.wait()
          jobs.withLock { $0.removeFirst() }.runSynchronously(on: asUnownedTaskExecutor())
        }
      }
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    more.signal()
  }

  /// Runs a closure on these threads.
  func run(_ body: @Sendable () async throws -> Void) async throws {
    try await withTaskExecutorPreference(self) { try await body() }
  }

  /// The same once it is this closure's turn: what it waits for is then not the work of many others.
  func runInTurn(_ body: @Sendable () async throws -> Void) async throws {
    await withCheckedContinuation { continuation in
      let isFree = turns.withLock { turns in
        if turns.free == 0 {
          turns.waiting.append(continuation)
          return false
        }
        turns.free -= 1
        return true
      }
      if isFree { continuation.resume() }
    }
    defer {
      let next = turns.withLock { turns -> CheckedContinuation<Void, Never>? in
        guard turns.waiting.isEmpty else { return turns.waiting.removeFirst() }
        turns.free += 1
        return nil
      }
      next?.resume()
    }
    try await run(body)
  }

  /// Begins a task of a check; one that is made otherwise does not stay on these threads.
  static func task<Success: Sendable>(
    _ body: @escaping @Sendable () async throws -> Success
  ) -> Task<Success, any Error> {
    Task(executorPreference: shared) { try await body() }
  }
}
