import PersistenceDriver
import PersistenceDriverSupport

/// The attempts of an observation to read, while a server or another writer does not let it (contract U1).
///
/// The delays double from the interval of the observation to half a minute.
struct ObservationRetries {
  private static let longestDelay = Duration.seconds(30)
  private let options: ObservationOptions
  private var failures = 0

  init(_ options: ObservationOptions) { self.options = options }

  /// The result of a closure; nil, after a delay, if it threw an error that may pass.
  ///
  /// The first failure after a success is logged.
  ///
  /// - Throws: Any other error, and `CancellationError`.
  mutating func attempt<Result: Sendable>(
    _ context: any PersistentContext, _ body: () async throws -> Result
  ) async throws -> Result? {
    do {
      let result = try await body()
      failures = 0
      return result
    } catch let error as PersistenceError where error.isRetryable {
      if failures == 0 { context.asStorageContext?.monitor.delayedObservation(error) }
      let delay = options.outsideInterval * (1 << min(failures, 20))
      failures += 1
      try await options.clock.sleep(for: min(delay, Self.longestDelay))
      return nil
    }
  }
}
