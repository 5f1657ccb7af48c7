public import Foundation
public import PersistenceCore
import PersistenceDriver

/// The options of a ``LayeredDataSource``.
public struct LayerOptions<Object: PersistentRecord>: Sendable {
  /// The default strategy of reads.
  public var strategy = RetrievalStrategy.upToDateWithFallback

  /// Which layer is written first.
  public var writes = WritePolicy.remoteFirst

  /// The policy for writes of the outbox that conflict with the remote layer.
  public var conflicts = ConflictPolicy<Object>.setAside

  /// Whether the methods of ``DataSource`` may return an incomplete answer.
  ///
  /// They cannot mark it as incomplete. Otherwise they throw the error that prevented a complete one.
  public var acceptsIncompleteAnswers = false

  /// The limits of the cache.
  public var cache = LayerLimits()

  /// The limits of the local layer.
  public var local = LayerLimits()

  /// The limits of the remote layer.
  ///
  /// By default, a read waits for ten seconds in total, and the next ones for thirty seconds not at all if a lower layer
  /// has an answer. An attempt to write takes up to thirty seconds.
  public var remote = LayerLimits(
    timeout: .seconds(30), retry: RetryPolicy(), deadline: .seconds(10), pause: .seconds(30))

  /// The retry policy of the outbox.
  ///
  /// An entry that fails so many times with an error that is not retryable is set aside.
  public var outbox = RetryPolicy(attempts: 10, firstDelay: .seconds(1), longestDelay: .seconds(300))

  /// The time that ``RetrievalStrategy/staleWhileRevalidate`` waits for the remote layer before a lower layer answers.
  public var staleDelay = Duration.milliseconds(300)

  /// What happens to an entry of the outbox that fails again and again while others would pass.
  public var stuckEntries = StuckEntryPolicy.setAside(afterFailures: 5)

  /// The clock for timeouts and delays.
  public var clock: any Clock<Duration> = ContinuousClock()

  /// Returns the current date, for ages.
  public var now: @Sendable () -> Date = { Date() }

  /// Creates default options.
  public init() {}

  func limits(of layer: DataSourceLayer) -> LayerLimits {
    switch layer {
    case .cache: cache
    case .local: local
    case .remote: remote
    }
  }
}

/// Which layers of a ``LayeredDataSource`` answer a query.
public enum RetrievalStrategy: Sendable, Hashable, Codable, CaseIterable {
  /// Queries all layers concurrently, takes the first good answer and cancels the others.
  ///
  /// An answer is good if it is complete, current and within the layer's maximum age.
  case fastestAvailable

  /// Queries the remote layer, and falls back to the local one or the cache if it fails. The answer refreshes
  /// the other layers.
  case upToDateWithFallback

  /// Queries all layers concurrently and returns each answer that is better than the previous one.
  ///
  /// Calls for a single answer, such as the methods of ``DataSource``, return the last and best.
  case returnMultipleTimes

  /// Queries the remote layer, and answers from the local one or the cache if the remote layer fails or takes longer
  /// than ``LayerOptions/staleDelay``. The remote answer refreshes the other layers when it arrives.
  case staleWhileRevalidate
}

/// Which layer is written first.
public enum WritePolicy: Sendable, Hashable, Codable {
  /// The remote layer, and then the others. A write that returns is in all layers; without the remote layer, a
  /// write fails.
  case remoteFirst
  /// The local layer, which adds the write to its outbox in the same transaction. The remote layer gets it when
  /// it is reachable. The local layer must be a ``RepositoryDataSource``.
  case localFirst
}

/// What happens to an entry of the outbox that fails again and again with an error that may pass.
public enum StuckEntryPolicy: Sendable, Hashable {
  /// Later entries wait for it: the remote layer gets all writes in order.
  case wait
  /// Entries of other objects pass it after its third failure. If it fails so many times while others pass, it is set
  /// aside.
  case setAside(afterFailures: Int)
}

/// The time limits, retries and maximum age of one layer.
public struct LayerLimits: Sendable {
  /// The timeout of one attempt; nil for none.
  public var timeout: Duration?

  /// The retry policy.
  public var retry: RetryPolicy

  /// The maximum age of a good answer; nil for any age.
  ///
  /// A fallback answer may be older; it reports its age.
  public var maximumAge: Duration?

  /// The time limit of a read of the authoritative layer: its attempts, the delays between them, and the waiting writes
  /// that it sends first; nil for none.
  ///
  /// After it, a lower layer answers. Writes are not affected.
  public var deadline: Duration?

  /// The time in which reads do not call the authoritative layer after it timed out or was unreachable, if a lower layer
  /// has an answer; nil for none.
  ///
  /// Without it, each read waits for a server that hangs. Writes and the outbox are not affected; one that succeeds ends
  /// the pause.
  public var pause: Duration?

  /// Creates limits.
  public init(
    timeout: Duration? = nil, retry: RetryPolicy = .once, maximumAge: Duration? = nil,
    deadline: Duration? = nil, pause: Duration? = nil
  ) {
    self.timeout = timeout
    self.retry = retry
    self.maximumAge = maximumAge
    self.deadline = deadline
    self.pause = pause
  }
}

/// How often and after which delays to retry.
///
/// Only a retryable error (``PersistenceError/isRetryable``) leads to another attempt.
public struct RetryPolicy: Sendable {
  /// The maximum number of attempts, the first one included.
  public var attempts: Int

  /// The delay before the second attempt.
  ///
  /// It doubles with each further attempt.
  public var firstDelay: Duration

  /// The maximum delay.
  public var longestDelay: Duration

  /// The random share of each delay, from 0 to 1, so that clients that fail together do not retry together.
  public var jitter: Double

  /// Returns a random number from 0 up to 1.
  public var random: @Sendable () -> Double

  /// Creates a policy.
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

  /// A single attempt.
  public static let once = RetryPolicy(attempts: 1)

  /// The delay after a number of failures, at least 1.
  package func delay(after failures: Int) -> Duration {
    // Half of the longest delay is the bound on doublings, which prevents an overflow.
    var delay = min(firstDelay, longestDelay)
    for _ in 1..<max(1, min(failures, 64)) where delay < longestDelay {
      delay = delay > longestDelay / 2 ? longestDelay : delay * 2
    }
    let share = jitter * random()
    return delay * (1 - (share.isFinite ? min(max(share, 0), 1) : 0))
  }
}
