public import PersistenceCore
public import PersistenceDriver
import Synchronization

/// The result of a data access object's query, and the changes since the previous update.
public struct DomainUpdate<Domain: Sendable, Entity: PersistentRecord>: Sendable {
  /// The lazy entities and the changed keys.
  public let entities: RecordUpdate<Entity>

  fileprivate let access: DataAccessObject<Domain, Entity>

  /// The changes since the previous update.
  public var changes: ChangeSet { entities.changes }

  /// All values, mapped at each call.
  ///
  /// - Returns: The values, in the query's order.
  /// - Throws: ``PersistenceError`` if an entity cannot be read or mapped.
  public func values() throws -> [Domain] {
    var values: [Domain] = []
    try entities.results.forEach { values.append(try access.domain(of: $0)) }
    return values
  }
}

/// The result of a data access object's query, again after each commit that can affect it.
///
/// After a manager exchanges its data sources, the sequence continues with the new ones. Their first update is
/// marked as the first.
public struct DomainUpdates<Domain: Sendable, Entity: PersistentRecord>: AsyncSequence, Sendable {
  /// An update.
  public typealias Element = DomainUpdate<Domain, Entity>

  /// The error of the iterator.
  public typealias Failure = PersistenceError

  fileprivate let access: DataAccessObject<Domain, Entity>
  fileprivate let query: FetchOptions<Entity>
  fileprivate let options: ObservationOptions

  /// Observes the data source.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    fileprivate let iterator: DomainUpdateIterator<Domain, Entity>

    /// The next update; nil if the task is cancelled.
    ///
    /// - Throws: ``PersistenceError``, with code ``PersistenceError/Code/unsupported`` if the data source
    ///   cannot be observed.
    public mutating func next() async throws(PersistenceError) -> DomainUpdate<Domain, Entity>? {
      try await iterator.next()
    }

    /// The next update, in the isolation of an actor; nil if the task is cancelled.
    ///
    /// - Throws: As ``next()`` does.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(PersistenceError)
      -> DomainUpdate<Domain, Entity>?
    {
      try await iterator.next()
    }
  }

  /// Starts to observe at the first call of ``AsyncIterator/next()``.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: DomainUpdateIterator(self)) }

  /// The updates, as loading states.
  public var states: LoadingStates<DomainUpdate<Domain, Entity>> {
    LoadingStates { DomainUpdateIterator(self).next }
  }
}

extension DataAccessObject {
  /// The values whose entities match a predicate, again after each commit that can affect them.
  ///
  /// - Parameters:
  ///   - predicate: The predicate; all entities by default.
  ///   - sorting: The order; by primary key by default.
  ///   - options: The limit on reported keys, and how to watch other processes.
  /// - Returns: The updates.
  public func updates(
    where predicate: PersistentPredicate<Entity> = .all, sorted sorting: [SortCriterion<Entity>] = [],
    options: ObservationOptions = ObservationOptions()
  ) -> DomainUpdates<Domain, Entity> {
    DomainUpdates(access: self, query: FetchOptions(predicate: predicate, sorting: sorting), options: options)
  }
}

/// One iteration over the updates of the current data source.
private final class DomainUpdateIterator<Domain: Sendable, Entity: PersistentRecord>: Sendable {
  private struct Current {
    let iterator: SequenceIterator<RecordUpdates<Entity>>
    let generation: ProviderGeneration?
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
      if let generation = current.generation, generation.isOver {
        // The outcome of a replaced data source is obsolete.
        self.current.withLock { $0 = nil }
        if Task.isCancelled { return nil }
        continue
      }
      return try outcome.get().map { DomainUpdate(entities: $0, access: updates.access) }
    }
  }

  /// Starts to observe the current data source, which does not prevent closing it.
  private func begin() throws(PersistenceError) -> Current {
    let use = updates.access.begin()
    guard let records = use.provider?.updates(updates.query, options: updates.options) else {
      throw PersistenceError(.unsupported, "the data source of \(Entity.self) cannot be observed")
    }
    let begun = Current(iterator: SequenceIterator(records), generation: use.lease?.generation)
    current.withLock { $0 = begun }
    return begun
  }

  /// The next update; nil as soon as the data sources are replaced.
  private func outcome(of current: Current) async -> Result<RecordUpdate<Entity>?, PersistenceError> {
    guard let generation = current.generation else { return await Self.result(of: current.iterator) }
    return await withTaskGroup(of: Result<RecordUpdate<Entity>?, PersistenceError>.self) { group in
      group.addTask { await Self.result(of: current.iterator) }
      group.addTask {
        await generation.untilOver()
        return .success(nil)
      }
      defer { group.cancelAll() }
      return await group.next() ?? .success(nil)
    }
  }

  private static func result(
    of iterator: SequenceIterator<RecordUpdates<Entity>>
  ) async -> Result<RecordUpdate<Entity>?, PersistenceError> {
    do {
      return .success(try await iterator.next())
    } catch {
      return .failure(error)
    }
  }
}
