public import PersistenceCore

extension RepositoryDataSource {
  /// What a query yields, again after each commit that can affect it, whoever makes it.
  ///
  /// - Parameters:
  ///   - query: Which objects, in what order; all by default.
  ///   - options: How much is remembered of changes, and how other processes are watched.
  /// - Returns: The updates; see ``PersistenceCore/RecordUpdates``.
  public func updates(
    _ query: FetchOptions<Object> = FetchOptions(), options: ObservationOptions = ObservationOptions()
  ) -> RecordUpdates<Object> {
    repository.updates(of: query, options: options)
  }
}

extension DataSourceQuery {
  /// What the query yields, again after each commit that can affect it, whoever makes it.
  ///
  /// - Parameter observation: How much is remembered of changes, and how other processes are watched.
  /// - Returns: The updates; see ``PersistenceCore/RecordUpdates``.
  public func updates<Object>(
    _ observation: ObservationOptions = ObservationOptions()
  ) -> RecordUpdates<Object> where Source == RepositoryDataSource<Object> {
    store.updates(options, options: observation)
  }
}
