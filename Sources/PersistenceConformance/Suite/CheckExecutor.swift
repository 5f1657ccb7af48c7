import PersistenceDriverSupport
import Synchronization

/// Runs suspending checks on dedicated threads, two checks at a time.
///
/// Other tests block the few threads of the cooperative pool. A check that suspended there could resume minutes later,
/// and its watchdog would report a context that hangs.
enum CheckExecutor {
  private static let threads = BlockingThreads("persistence check", limit: 4)
  private static let state = Mutex(State())

  private struct State {
    var free = 2
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// Runs a closure once fewer than two checks run.
  static func runLimited(_ body: @Sendable () async throws -> Void) async throws {
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
    try await withTaskExecutorPreference(threads) { try await body() }
  }

  /// Starts a task of a check on these threads, which other tasks would leave.
  static func task<Success: Sendable>(
    _ body: @escaping @Sendable () async throws -> Success
  ) -> Task<Success, any Error> {
    Task(executorPreference: threads) { try await body() }
  }
}
