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
