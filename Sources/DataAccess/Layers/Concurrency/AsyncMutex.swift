import Synchronization

/// A mutual exclusion lock for tasks, in order of arrival.
final class AsyncMutex: Sendable {
  private let state = Mutex(State())

  var isTaken: Bool { state.withLock(\.isTaken) }

  /// The number of tasks that wait.
  var waiting: Int { state.withLock(\.continuations.count) }

  /// Runs a closure under the lock.
  func withLock<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    await lock()
    defer { unlock() }
    return try await body()
  }

  /// Waits for the lock, also in a cancelled task.
  func lock() async { _ = await wait(untilCancelled: false) }

  /// Waits for the lock.
  ///
  /// - Returns: False if the task was cancelled while it waited; it has no lock then.
  func lockUnlessCancelled() async -> Bool { await wait(untilCancelled: true) }

  private func wait(untilCancelled isCancellable: Bool) async -> Bool {
    let task = state.withLock { state in
      state.tasks += 1
      return state.tasks
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state -> Bool? in
          if isCancellable, Task.isCancelled { return false }
          if !state.isTaken {
            state.isTaken = true
            return true
          }
          state.continuations[task] = continuation
          state.order.append(task)
          return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      guard isCancellable else { return }
      state.withLock { $0.continuations.removeValue(forKey: task) }?.resume(returning: false)
    }
  }

  func unlock() {
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      let next = state.removeFirst()
      if next == nil { state.isTaken = false }
      return next
    }
    next?.resume(returning: true)
  }
}
