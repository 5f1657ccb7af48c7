public import PersistenceCore
public import PersistenceDriver
import Synchronization

/// What a query of a data access object yields now, and what has changed since the update before.
public struct DomainUpdate<Domain: Sendable, Entity: PersistentRecord>: Sendable {
  /// The entities, lazily, and the keys that have changed.
  public let entities: RecordUpdate<Entity>

  fileprivate let access: DataAccessObject<Domain, Entity>

  /// What has changed.
  public var changes: ChangeSet { entities.changes }

  /// The values, whole: each is mapped when this is called.
  ///
  /// - Returns: The values, in the query's order.
  /// - Throws: ``PersistenceError`` where one cannot be read or mapped.
  public func values() throws -> [Domain] {
    var values: [Domain] = []
    try entities.results.forEach { values.append(try access.domain(of: $0)) }
    return values
  }
}

/// What a query of a data access object yields, again after each commit that can affect it.
///
/// Where the manager's stores are exchanged, it goes on with the new ones, whose first update says so.
public struct DomainUpdates<Domain: Sendable, Entity: PersistentRecord>: AsyncSequence, Sendable {
  /// An update.
  public typealias Element = DomainUpdate<Domain, Entity>

  /// What a walk throws.
  public typealias Failure = PersistenceError

  fileprivate let access: DataAccessObject<Domain, Entity>
  fileprivate let query: FetchOptions<Entity>
  fileprivate let options: ObservationOptions

  /// Observes the stores.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    fileprivate let walk: DomainWalk<Domain, Entity>

    /// The next update; nil where the task was cancelled.
    ///
    /// - Throws: ``PersistenceError``; with code ``PersistenceError/Code/unsupported`` where the store cannot be
    ///   observed.
    public mutating func next() async throws(PersistenceError) -> DomainUpdate<Domain, Entity>? {
      try await walk.next()
    }

    /// The next update, awaited on behalf of an actor; nil where the task was cancelled.
    ///
    /// - Throws: As ``next()`` does.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(PersistenceError)
      -> DomainUpdate<Domain, Entity>?
    {
      try await walk.next()
    }
  }

  /// Begins to observe, at the first call of ``AsyncIterator/next()``.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(walk: DomainWalk(self)) }

  /// The updates, and how far loading them has come.
  public var states: LoadingStates<DomainUpdate<Domain, Entity>> {
    LoadingStates { DomainWalk(self).next }
  }
}

extension DataAccessObject {
  /// The values whose entities fit a condition, again after each commit that can affect them.
  ///
  /// - Parameters:
  ///   - predicate: Which entities; all by default.
  ///   - sorting: The order; that of the primary key by default.
  ///   - options: How much is remembered of changes, and how other processes are watched.
  /// - Returns: The updates.
  public func updates(
    where predicate: PersistentPredicate<Entity> = .all, sorted sorting: [SortCriterion<Entity>] = [],
    options: ObservationOptions = ObservationOptions()
  ) -> DomainUpdates<Domain, Entity> {
    DomainUpdates(
      access: self, query: FetchOptions(predicate: predicate, sorting: sorting), options: options)
  }
}

/// One walk over the updates of whatever stores are current.
private final class DomainWalk<Domain: Sendable, Entity: PersistentRecord>: Sendable {
  private struct Current {
    let walk: SequenceWalk<RecordUpdates<Entity>>
    let tenure: ProviderGeneration?
  }

  private let updates: DomainUpdates<Domain, Entity>
  private let current = Mutex<Current?>(nil)

  init(_ updates: DomainUpdates<Domain, Entity>) { self.updates = updates }

  @Sendable
  func next() async throws(PersistenceError) -> DomainUpdate<Domain, Entity>? {
    while true {
      let known = self.current.withLock(\.self)
      let current = if let known { known } else { try begin() }
      let outcome = await outcome(of: current)
      if let tenure = current.tenure, tenure.isOver {
        // Whatever came of the old ones counts no more.
        self.current.withLock { $0 = nil }
        if Task.isCancelled { return nil }
        continue
      }
      return try outcome.get().map { DomainUpdate(entities: $0, access: updates.access) }
    }
  }

  /// Begins to observe what is current; that does not keep it from being closed.
  private func begin() throws(PersistenceError) -> Current {
    let use = updates.access.begin()
    guard let records = use.source?.updates(updates.query, options: updates.options) else {
      throw PersistenceError(.unsupported, "the store of \(Entity.self) cannot be observed")
    }
    let begun = Current(walk: SequenceWalk(records), tenure: use.lease?.tenure)
    current.withLock { $0 = begun }
    return begun
  }

  /// The next update, or nil as soon as the stores are exchanged.
  private func outcome(of current: Current) async -> Result<RecordUpdate<Entity>?, PersistenceError> {
    guard let tenure = current.tenure else { return await Self.result(of: current.walk) }
    return await withTaskGroup(of: Result<RecordUpdate<Entity>?, PersistenceError>.self) { group in
      group.addTask { await Self.result(of: current.walk) }
      group.addTask {
        await tenure.untilOver()
        return .success(nil)
      }
      defer { group.cancelAll() }
      return await group.next() ?? .success(nil)
    }
  }

  private static func result(
    of walk: SequenceWalk<RecordUpdates<Entity>>
  ) async -> Result<RecordUpdate<Entity>?, PersistenceError> {
    do {
      return .success(try await walk.next())
    } catch {
      return .failure(error)
    }
  }
}
