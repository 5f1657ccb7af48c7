import PersistenceDriver

/// How to follow the changes of a data source.
public struct FollowingOptions: Sendable {
  /// The delays before a lost connection is made again; the number of attempts is unlimited.
  public var retry: RetryPolicy
  /// The clock of these delays.
  public var clock: any Clock<Duration>

  /// Creates options.
  ///
  /// - Parameters:
  ///   - retry: The delays, by default from 200 ms to 30 s.
  ///   - clock: The clock of the delays.
  public init(retry: RetryPolicy = RetryPolicy(), clock: any Clock<Duration> = ContinuousClock()) {
    (self.retry, self.clock) = (retry, clock)
  }
}

extension ChangeTrackingDataSource {
  /// The changes since a checkpoint, and further ones when they happen, over as many connections as needed.
  ///
  /// The first element comes as soon as the data source is reachable. Errors that are not retryable end the sequence,
  /// such as ``PersistenceError/Code/unauthorized``.
  ///
  /// - Parameters:
  ///   - checkpoint: The checkpoint; nil for changes from now on.
  ///   - options: The delays between connections.
  /// - Returns: The changes. An element with ``ObjectChanges/isReset`` shows that some are unknown.
  public func followedChanges(
    since checkpoint: DataSourceCheckpoint? = nil, options: FollowingOptions = FollowingOptions()
  ) -> DataSourceStream<ObjectChanges<Object>> {
    DataSourceStream { ChangeFollower(self, since: checkpoint, options).next }
  }
}

/// One iteration over the changes of a data source, which connects again when it loses its connection.
final class ChangeFollower<Source: ChangeTrackingDataSource>: @unchecked Sendable {  // one task
  private let source: Source
  private let options: FollowingOptions
  private var checkpoint: DataSourceCheckpoint?
  private var events: SequenceIterator<DataSourceStream<ObjectChanges<Source.Object>>>?
  private var pause: RetryPause
  /// Whether changes before the next event are unknown.
  private var isReset = false

  init(_ source: Source, since checkpoint: DataSourceCheckpoint?, _ options: FollowingOptions) {
    (self.source, self.checkpoint, self.options) = (source, checkpoint, options)
    pause = RetryPause(options)
  }

  @Sendable
  func next() async throws(PersistenceError) -> ObjectChanges<Source.Object>? {
    while !Task.isCancelled {
      let events = self.events ?? SequenceIterator(source.changeEvents(since: checkpoint))
      self.events = events
      do throws(PersistenceError) {
        if var change = try await events.next() {
          pause.end()
          checkpoint = change.checkpoint
          if isReset { change.isReset = true }
          isReset = false
          return change
        }
        self.events = nil
        if Task.isCancelled { return nil }
      } catch {
        self.events = nil
        if Task.isCancelled { return nil }
        if error.code == .checkpointExpired, checkpoint != nil {
          (checkpoint, isReset) = (nil, true)
          continue
        }
        guard error.isRetryable else { throw error }
      }
      guard await pause.wait() else { return nil }
    }
    return nil
  }
}

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
