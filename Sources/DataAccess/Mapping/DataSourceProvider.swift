public import PersistenceCore
public import PersistenceDriver
import PersistenceDriverSupport

/// Provides the data sources of all kinds of objects: from a repository, a server, or any combination.
public protocol DataSourceProvider: Sendable {
  /// The data source of one kind of object.
  ///
  /// - Parameter type: The type of the objects.
  /// - Returns: A data source. All data sources of one type share the same objects.
  func dataSource<Object: PersistentRecord>(of type: Object.Type) -> any DataSource<Object>

  /// The updates of a query; nil if the data sources cannot be observed.
  func updates<Object: PersistentRecord>(
    _ query: FetchOptions<Object>, options: ObservationOptions
  ) -> RecordUpdates<Object>?

  /// Releases all resources of the data sources.
  ///
  /// - Throws: ``PersistenceError`` if closing fails.
  func close() async throws(PersistenceError)
}

/// The data sources of a repository.
public struct RepositoryDataSourceProvider: DataSourceProvider {
  /// The repository.
  public let repository: any PersistentRepository

  /// Creates a provider.
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

  /// Closes the repository's context, if it can be closed.
  ///
  /// - Throws: ``PersistenceError`` if closing fails.
  public func close() async throws(PersistenceError) {
    let repository = repository
    try await BlockingThreads.shared.call { try repository.context.asStorageContext?.close() }
  }
}
