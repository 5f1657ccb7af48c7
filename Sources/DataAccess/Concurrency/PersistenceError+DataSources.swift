import PersistenceDriver

extension PersistenceError {
  /// Any error as this package's own, where only this kind can be thrown.
  init(of error: any Error) {
    self =
      (error as? PersistenceError)
      ?? (error is CancellationError ? .cancelled() : Self(.engineFailure, "\(error)"))
  }

  static func cancelled() -> Self {
    Self(.cancelled, "the task that asked was cancelled; nothing was done for it, or the answer was dropped")
  }
}

/// Runs code that throws errors of any type where only one type can be thrown.
func caught<Result>(_ body: () throws -> Result) throws(PersistenceError) -> Result {
  do { return try body() } catch { throw PersistenceError(of: error) }
}
