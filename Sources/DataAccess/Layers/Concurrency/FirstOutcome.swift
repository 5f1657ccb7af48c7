import Synchronization

/// The first outcome of several tasks.
///
/// It cancels the others and does not wait for them.
final class FirstOutcome<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var isOver = false
    var continuation: CheckedContinuation<Value?, Never>?
    var tasks: [Task<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Starts a task; nil means no outcome.
  func start(_ body: @escaping @Sendable () async -> Value?) {
    let task = Task {
      if let value = await body() { finish(value) }
    }
    let isOver = state.withLock { state in
      state.tasks.append(task)
      return state.isOver
    }
    if isOver { task.cancel() }
  }

  /// The first outcome; nil if the calling task is cancelled first.
  func value() async -> Value? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isOver, value) = state.withLock { state -> (Bool, Value?) in
          if !state.isOver { state.continuation = continuation }
          return (state.isOver, state.value)
        }
        if isOver { continuation.resume(returning: value) }
      }
    } onCancel: {
      finish(nil)
    }
  }

  private func finish(_ value: Value?) {
    let (continuation, tasks) = state.withLock {
      state -> (CheckedContinuation<Value?, Never>?, [Task<Void, Never>]) in
      guard !state.isOver else { return (nil, []) }
      state.isOver = true
      state.value = value
      defer {
        state.continuation = nil
        state.tasks = []
      }
      return (state.continuation, state.tasks)
    }
    for task in tasks { task.cancel() }
    continuation?.resume(returning: value)
  }
}
