import PersistenceDriver
import PersistenceDriverSupport

extension PersistenceError {
  /// Converts any error to the error type of this package.
  init(of error: any Error) {
    self =
      (error as? PersistenceError)
      ?? (error is CancellationError ? .cancelled() : Self(.engineFailure, "\(error)"))
  }

  static func cancelled() -> Self {
    Self(.cancelled, "the task was cancelled before or during the call; its result was discarded")
  }
}

extension BlockingThreads {
  /// Runs a closure on a thread of the pool.
  ///
  /// Throws `cancelled` if the task is cancelled before a thread is free.
  func call<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws(PersistenceError) -> Result {
    do { return try await run(body) } catch { throw PersistenceError(of: error) }
  }
}

/// Converts the errors of a closure to `PersistenceError`.
func mappingErrors<Result>(_ body: () throws -> Result) throws(PersistenceError) -> Result {
  do { return try body() } catch { throw PersistenceError(of: error) }
}
