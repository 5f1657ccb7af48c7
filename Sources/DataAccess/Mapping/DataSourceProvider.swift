public import PersistenceCore
public import PersistenceDriver

/// Where the stores of all kinds of objects come from: a repository, a server, or whatever an app puts together.
public protocol DataSourceProvider: Sendable {
  /// The store of one kind of object.
  ///
  /// - Parameter type: What is kept.
  /// - Returns: A store; several of one kind are one.
  func dataSource<Object: PersistentRecord>(of type: Object.Type) -> any DataSource<Object>

  /// The updates of a query; nil where this source's stores cannot be observed.
  func updates<Object: PersistentRecord>(
    _ query: FetchOptions<Object>, options: ObservationOptions
  ) -> RecordUpdates<Object>?

  /// Lets go of whatever the stores hold open.
  ///
  /// - Throws: ``PersistenceError`` where it could not be brought to rest.
  func close() async throws(PersistenceError)
}

/// The stores of a repository.
public struct RepositoryDataSourceProvider: DataSourceProvider {
  /// The repository.
  public let repository: any PersistentRepository

  /// Makes a source.
  public init(_ repository: any PersistentRepository) { self.repository = repository }

  /// The objects of one kind in the repository.
  public func dataSource<Object: PersistentRecord>(of type: Object.Type) -> any DataSource<Object> {
    RepositoryDataSource<Object>(repository)
  }

  /// The updates of a query.
  public func updates<Object: PersistentRecord>(
    _ query: FetchOptions<Object>, options: ObservationOptions
  ) -> RecordUpdates<Object>? {
    repository.updates(of: query, options: options)
  }

  /// Closes the repository's context, where it can be closed.
  ///
  /// - Throws: ``PersistenceError`` where it could not be brought to rest.
  public func close() async throws(PersistenceError) {
    let repository = repository
    try await BlockingThreads.shared.run { try repository.context.asStorageContext?.close() }
  }
}
