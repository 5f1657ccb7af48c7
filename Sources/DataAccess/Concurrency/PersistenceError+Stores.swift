import PersistenceDriver

extension PersistenceError {
  /// An error of another kind, met where only this one can be thrown.
  init(foreign error: any Error) {
    self = error is CancellationError ? .cancelled() : Self(.engineFailure, "\(error)")
  }

  static func cancelled() -> Self {
    Self(.cancelled, "the task that asked was cancelled; nothing was done for it, or the answer was dropped")
  }
}
