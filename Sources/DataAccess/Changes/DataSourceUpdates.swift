public import PersistenceCore

/// The result of a query of a data source, and the changes since the previous update.
public struct DataSourceUpdate<Object: PersistentRecord>: Sendable {
  /// The objects that match, in the query's order.
  public let objects: [Object]

  /// The changes of ``objects`` since the previous update.
  ///
  /// Unlike in updates of a repository, they concern only the objects within the query's limit and offset.
  public let changes: ChangeSet
}

extension ChangeTrackingDataSource {
  /// The result of a query, again after changes that affect it.
  ///
  /// The first update comes as soon as the data source is reachable. While it is not, the sequence connects again; no
  /// change is missed or told twice, because each update is compared with the previous one. A slow consumer gets the newest
  /// state. Errors that are not retryable end the sequence, such as ``PersistenceError/Code/unauthorized``.
  ///
  /// - Parameters:
  ///   - query: The predicate, order and limits; all objects by default.
  ///   - options: The delays between connections.
  /// - Returns: The updates. An iteration keeps the objects of its last update in memory.
  public func updates(
    _ query: FetchOptions<Object> = FetchOptions(), options: FollowingOptions = FollowingOptions()
  ) -> DataSourceStream<DataSourceUpdate<Object>> {
    DataSourceStream { FollowedResult(self, query, options).next }
  }
}

extension DataSourceQuery where Source: ChangeTrackingDataSource {
  /// The result of the query, again after changes that affect it; see
  /// ``ChangeTrackingDataSource/updates(_:options:)``.
  ///
  /// - Parameter following: The delays between connections.
  /// - Returns: The updates.
  public func updates(_ following: FollowingOptions = FollowingOptions())
    -> DataSourceStream<DataSourceUpdate<Source.Object>>
  {
    source.updates(options, options: following)
  }
}
