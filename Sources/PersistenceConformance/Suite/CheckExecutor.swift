import PersistenceDriverSupport
import Synchronization

/// Runs checks on dedicated threads.
///
/// A blocking check would occupy one of the few threads of the cooperative pool. A suspending check could
/// resume there minutes later, and its watchdog would report a context that hangs. Suspending checks run two
/// at a time.
enum CheckExecutor {
  private static let threads = BlockingThreads("persistence check", limit: 4)
  /// Blocking checks mostly wait for a disk, a process or a time-out, so more run than there are cores.
  private static let blockingThreads = BlockingThreads("persistence blocking check", limit: 4)
  private static let state = Mutex(State())

  private struct State {
    var free = 2
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  static func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await blockingThreads.run(body)
  }

  /// Runs a closure once fewer than two checks run.
  static func runLimited<Result: Sendable>(
    _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.free == 0 {
          state.waiting.append(continuation)
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { continuation.resume() }
    }
    defer {
      let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
        guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
        state.free += 1
        return nil
      }
      next?.resume()
    }
    return try await withTaskExecutorPreference(threads) { try await body() }
  }

  /// Starts a task of a check on these threads, which other tasks would leave.
  static func task<Success: Sendable>(_ body: @escaping @Sendable () async throws -> Success) -> Task<
    Success, any Error
  > { Task(executorPreference: threads) { try await body() } }
}
