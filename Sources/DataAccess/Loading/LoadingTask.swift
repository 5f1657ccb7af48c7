/// The task of a model, cancelled with it.
final class LoadingTask {
  private var task: Task<Void, Never>?
  private var number = 0

  var isRunning: Bool { task != nil }

  deinit { task?.cancel() }

  @MainActor
  func replace(_ body: @escaping @MainActor (_ isCurrent: () -> Bool) async -> Void) {
    task?.cancel()
    number += 1
    let mine = number
    task = Task { @MainActor [weak self] in
      await body { self?.number == mine && !Task.isCancelled }
      if let self, self.number == mine { self.task = nil }
    }
  }

  @MainActor
  func cancel() {
    task?.cancel()
    task = nil
    number += 1
  }

  /// Waits until no task runs, including one that replaces the current one.
  @MainActor
  func finished() async {
    while let task { await task.value }
  }
}
