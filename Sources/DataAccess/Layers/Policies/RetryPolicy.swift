import PersistenceDriver

/// How often, and after which times, something is tried again that may succeed later.
///
/// Only errors that say so (``PersistenceError/isRetryable``) are followed by another attempt.
public struct RetryPolicy: Sendable {
  /// How often it is tried, the first time included.
  public var attempts: Int

  /// The time before the second attempt; each further one is twice the one before.
  public var firstDelay: Duration

  /// The longest time between two attempts.
  public var longestDelay: Duration

  /// How much of each time is left to chance, from 0 to 1, so that clients that failed together do not come back
  /// together.
  public var jitter: Double

  /// Gives the chance, from 0 up to 1.
  public var random: @Sendable () -> Double

  /// Makes a policy.
  public init(
    attempts: Int = 3, firstDelay: Duration = .milliseconds(200), longestDelay: Duration = .seconds(30),
    jitter: Double = 0.5, random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
  ) {
    self.attempts = max(1, attempts)
    self.firstDelay = firstDelay
    self.longestDelay = longestDelay
    self.jitter = min(max(jitter, 0), 1)
    self.random = random
  }

  /// One attempt.
  public static let once = RetryPolicy(attempts: 1)

  /// The time to wait after so many attempts that failed.
  ///
  /// - Parameter failures: How many, at least one.
  /// - Returns: The time.
  public func delay(after failures: Int) -> Duration {
    // Doubling is done on the number of doublings that matter, so that no duration overflows.
    var delay = firstDelay
    for _ in 1..<max(1, min(failures, 64)) where delay < longestDelay { delay *= 2 }
    return min(delay, longestDelay) * (1 - jitter * min(max(random(), 0), 1))
  }
}
