public import PersistenceCore
public import PersistenceDriver
import Synchronization

/// Makes an app's data access objects, and can exchange the data sources behind all of them.
///
/// ```swift
/// let manager = DataAccessManager(repository)
/// let movies = manager.dataAccess(mapper)
/// …
/// let old = manager.exchange(for: Repository(MemoryContext()))
/// try await old.close()
/// ```
///
/// Each call of a data access object uses the data sources that are current when the call starts.
public final class DataAccessManager: Sendable {
  private let current: Mutex<ProviderGeneration>

  /// Creates a manager over a repository.
  public convenience init(_ repository: any PersistentRepository) {
    self.init(RepositoryDataSourceProvider(repository))
  }

  /// Creates a manager over any data sources.
  public init(_ provider: any DataSourceProvider) { current = Mutex(ProviderGeneration(provider)) }

  /// A data access object that follows every exchange.
  ///
  /// - Parameter mapper: Maps domain values to entities.
  /// - Returns: The data access object.
  public func dataAccess<Domain: Sendable, Entity: PersistentRecord>(
    _ mapper: Mapper<Domain, Entity>
  ) -> DataAccessObject<Domain, Entity> {
    DataAccessObject(mapper) {
      let lease = self.lease()
      let provider = lease.generation.provider
      return DataSourceUse(source: provider.dataSource(of: Entity.self), provider: provider, lease: lease)
    }
  }

  /// Replaces the repository behind all data access objects.
  ///
  /// - Parameter repository: The new repository.
  /// - Returns: The old data sources, which calls in flight still use.
  public func exchange(for repository: any PersistentRepository) -> RetiredDataSources {
    exchange(for: RepositoryDataSourceProvider(repository))
  }

  /// Replaces the data sources behind all data access objects.
  ///
  /// - Parameter provider: The new data sources.
  /// - Returns: The old data sources, which calls in flight still use.
  public func exchange(for provider: any DataSourceProvider) -> RetiredDataSources {
    let new = ProviderGeneration(provider)
    let old = current.withLock { current in
      defer { current = new }
      return current
    }
    old.finish()
    return RetiredDataSources(generation: old)
  }

  private func lease() -> ProviderLease {
    // Under the lock, so that an exchange happens entirely before or after.
    let generation = current.withLock { generation in
      generation.begin()
      return generation
    }
    return ProviderLease(begun: generation)
  }
}

/// Data sources that a manager has replaced.
public struct RetiredDataSources: Sendable {
  fileprivate let generation: ProviderGeneration

  /// The provider of the data sources.
  public var provider: any DataSourceProvider { generation.provider }

  /// Waits until no call uses the data sources.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/cancelled`` if the task is cancelled
  ///   first.
  public func finished() async throws(PersistenceError) {
    await generation.untilUnused()
    if Task.isCancelled { throw PersistenceError.cancelled() }
  }

  /// Waits until no call uses the data sources, and closes them.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/cancelled`` if the task is cancelled
  ///   first, which leaves them open; or an error of closing them.
  public func close() async throws(PersistenceError) {
    try await finished()
    try await provider.close()
  }
}

/// The provider of a manager until the next exchange, with a count of its users.
final class ProviderGeneration: Sendable {
  let provider: any DataSourceProvider
  private let state = Mutex(State())

  private struct State {
    var users = 0
    var isOver = false
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var next = 0

    mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
      defer { waiters = [:] }
      return waiters.values.map(\.self)
    }
  }

  init(_ provider: any DataSourceProvider) { self.provider = provider }

  /// Whether the manager has replaced the provider.
  var isOver: Bool { state.withLock(\.isOver) }

  func begin() { state.withLock { $0.users += 1 } }

  func end() {
    let woken = state.withLock { state in
      state.users -= 1
      return state.users == 0 && state.isOver ? state.takeWaiters() : []
    }
    for waiter in woken { waiter.resume() }
  }

  /// Marks the provider as replaced: no new call uses it.
  func finish() {
    let woken = state.withLock { state in
      state.isOver = true
      return state.takeWaiters()
    }
    for waiter in woken { waiter.resume() }
  }

  /// Waits until the manager replaces the provider or the task is cancelled.
  func untilOver() async { await wait { $0.isOver } }

  /// Waits until a replaced provider has no users or the task is cancelled.
  func untilUnused() async { await wait { $0.isOver && $0.users == 0 } }

  private func wait(_ isReached: @escaping @Sendable (borrowing State) -> Bool) async {
    while !Task.isCancelled {
      let number = state.withLock { state in
        state.next += 1
        return state.next
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isDue = state.withLock { state in
            if isReached(state) || Task.isCancelled { return true }
            state.waiters[number] = continuation
            return false
          }
          if isDue { continuation.resume() }
        }
      } onCancel: {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
      }
      if state.withLock({ isReached($0) }) { return }
    }
  }
}

/// One use of a provider, which ends with its release.
final class ProviderLease: Sendable {
  let generation: ProviderGeneration

  /// Adopts a use that the generation has counted.
  init(begun generation: ProviderGeneration) { self.generation = generation }

  deinit { generation.end() }
}

/// The data source and provider of one call of a data access object.
struct DataSourceUse<Entity: PersistentRecord>: Sendable {
  let source: any DataSource<Entity>
  /// The provider that makes updates; nil if there is none.
  let provider: (any DataSourceProvider)?
  /// Keeps the data source open; nil if no manager can close it.
  let lease: ProviderLease?
}
