public import PersistenceCore
public import PersistenceDriver
import Synchronization

/// Where an app takes its data access objects from, and where it exchanges what is behind all of them.
///
/// ```swift
/// let manager = DataAccessManager(repository)
/// let movies = manager.dataAccess(mapper)
/// …
/// let old = manager.exchange(for: Repository(MemoryContext()))
/// try await old.close()
/// ```
///
/// Every call of a data access object uses what the manager has when the call begins, and finishes on that.
public final class DataAccessManager: Sendable {
  private let current: Mutex<ProviderGeneration>

  /// Makes a manager over a repository.
  public convenience init(_ repository: any PersistentRepository) {
    self.init(RepositoryDataSourceProvider(repository))
  }

  /// Makes a manager over stores of any kind.
  public init(_ source: any DataSourceProvider) { current = Mutex(ProviderGeneration(source)) }

  /// A data access object, which follows every exchange.
  ///
  /// - Parameter mapper: What maps the domain's values to entities.
  /// - Returns: The object.
  public func dataAccess<Domain: Sendable, Entity: PersistentRecord>(
    _ mapper: Mapper<Domain, Entity>
  ) -> DataAccessObject<Domain, Entity> {
    DataAccessObject(mapper) {
      let lease = self.lease()
      let source = lease.tenure.source
      return DataSourceUse(store: source.dataSource(of: Entity.self), source: source, lease: lease)
    }
  }

  /// Puts another repository behind all data access objects, at once.
  ///
  /// - Parameter repository: The new one.
  /// - Returns: The old one, which operations under way still use.
  public func exchange(for repository: any PersistentRepository) -> RetiredDataSources {
    exchange(for: RepositoryDataSourceProvider(repository))
  }

  /// Puts other stores behind all data access objects, at once.
  ///
  /// - Parameter source: The new ones.
  /// - Returns: The old ones, which operations under way still use.
  public func exchange(for source: any DataSourceProvider) -> RetiredDataSources {
    let new = ProviderGeneration(source)
    let old = current.withLock { current in
      defer { current = new }
      return current
    }
    old.finish()
    return RetiredDataSources(tenure: old)
  }

  private func lease() -> ProviderLease {
    // Told under the lock, so that an exchange comes before it or waits for it.
    let tenure = current.withLock { tenure in
      tenure.begin()
      return tenure
    }
    return ProviderLease(begun: tenure)
  }
}

/// Stores that a manager no longer hands out.
public struct RetiredDataSources: Sendable {
  fileprivate let tenure: ProviderGeneration

  /// Where they come from.
  public var source: any DataSourceProvider { tenure.source }

  /// Waits until no operation is under way on them any more.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/cancelled`` where the task is cancelled first.
  public func finished() async throws(PersistenceError) {
    await tenure.untilUnused()
    if Task.isCancelled { throw PersistenceError.cancelled() }
  }

  /// Waits until no operation is under way on them any more, and closes them.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/cancelled`` where the task is cancelled first:
  ///   they stay open then; and where they could not be brought to rest.
  public func close() async throws(PersistenceError) {
    try await finished()
    try await source.close()
  }
}
