import PersistenceCore
import PersistenceDriver

/// Calls of one layer, within its time and as often as it may be tried.
struct Attempts: Sendable {
  let layer: DataSourceLayer
  let limits: LayerLimits
  let clock: any Clock<Duration>

  /// Calls until it succeeds, or has been tried often enough.
  ///
  /// - Parameters:
  ///   - mayRetry: Whether an error may be followed by another attempt, if it passes at all.
  ///   - body: One attempt.
  /// - Returns: What the attempt gave that succeeded.
  /// - Throws: What the last attempt threw; `cancelled` where the task was cancelled between two.
  func run<Value: Sendable>(
    mayRetry: (PersistenceError) -> Bool = { _ in true },
    _ body: @escaping @Sendable () async throws(PersistenceError) -> Value
  ) async throws(PersistenceError) -> Value {
    var failures = 0
    while true {
      do {
        return try await once(body)
      } catch {
        failures += 1
        guard failures < limits.retry.attempts, error.isRetryable, mayRetry(error) else { throw error }
        do {
          try await clock.sleep(for: limits.retry.delay(after: failures))
        } catch {
          throw .cancelled()
        }
      }
    }
  }

  /// One attempt, within the layer's time.
  func once<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(PersistenceError) -> Value
  ) async throws(PersistenceError) -> Value {
    guard let timeout = limits.timeout else { return try await body() }
    if Task.isCancelled { throw .cancelled() }
    // Not a task group, which would wait for a call that does not heed its cancellation.
    let race = FirstOutcome<Result<Value, PersistenceError>>()
    let (layer, clock) = (layer, clock)
    race.start {
      do throws(PersistenceError) { return .success(try await body()) } catch { return .failure(error) }
    }
    race.start {
      do {
        try await clock.sleep(for: timeout)
        return .failure(.timedOut(layer, after: timeout))
      } catch {
        return nil
      }
    }
    guard let outcome = await race.value() else { throw .cancelled() }
    return try outcome.get()
  }
}
