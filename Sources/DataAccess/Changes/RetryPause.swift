/// The growing delays after consecutive failures.
struct RetryPause {
  private let options: FollowingOptions
  private var failures = 0

  init(_ options: FollowingOptions) { self.options = options }

  /// Starts with the first delay again.
  mutating func end() { failures = 0 }

  /// The delay after one more failure.
  mutating func next() -> Duration {
    failures += 1
    return options.retry.delay(after: failures)
  }

  /// Waits after a failure; false if the task is cancelled.
  mutating func wait() async -> Bool {
    do {
      try await options.clock.sleep(for: next())
      return true
    } catch {
      return false
    }
  }
}
