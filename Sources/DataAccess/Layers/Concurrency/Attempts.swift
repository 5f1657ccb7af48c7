import PersistenceCore
import PersistenceDriver

/// Calls one layer with its timeout and its retry policy.
struct Attempts: Sendable {
  let layer: DataSourceLayer
  let limits: LayerLimits
  let clock: any Clock<Duration>

  /// Calls until an attempt succeeds, the policy allows no more, or `mayRetry` returns false for a retryable error.
  ///
  /// - Throws: The error of the last attempt; `cancelled` if the task is cancelled between two attempts.
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

  /// Runs one attempt within the layer's timeout.
  func once<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(PersistenceError) -> Value
  ) async throws(PersistenceError) -> Value {
    guard let timeout = limits.timeout else { return try await body() }
    if Task.isCancelled { throw .cancelled() }
    // Not a task group, which would wait for a call that ignores cancellation.
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
