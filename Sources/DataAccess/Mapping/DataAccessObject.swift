public import PersistenceCore
public import PersistenceDriver

/// Access to values of an app's domain, which are kept as entities: for teams that want no persistence in their models.
///
/// Values go in and come out; entities are seen by the ``Mapper`` and in conditions only. What a mapper's rule throws
/// comes out as it is told by ``PersistenceError`` and its code
/// ``PersistenceError/Code/encodingFailed``.
///
/// ```swift
/// let movies = DataAccessObject(repository, mapper)
/// try await movies.save(Movie(title: "Alien"))
/// let long = try await movies.fetch(where: \.minutes > 120)
/// ```
public struct DataAccessObject<Domain: Sendable, Entity: PersistentRecord>: Sendable {
  /// What maps values to entities.
  public let mapper: Mapper<Domain, Entity>

  let begin: @Sendable () -> DataSourceUse<Entity>

  init(_ mapper: Mapper<Domain, Entity>, begin: @escaping @Sendable () -> DataSourceUse<Entity>) {
    self.mapper = mapper
    self.begin = begin
  }

  /// Makes access to the entities of a repository.
  public init(_ repository: any PersistentRepository, _ mapper: Mapper<Domain, Entity>) {
    let source = RepositoryDataSourceProvider(repository)
    self.init(mapper) { DataSourceUse(store: source.dataSource(of: Entity.self), source: source, lease: nil) }
  }

  /// Makes access to the entities of a store of any kind, which cannot be observed.
  public init(_ store: any DataSource<Entity>, _ mapper: Mapper<Domain, Entity>) {
    self.init(mapper) { DataSourceUse(store: store, source: nil, lease: nil) }
  }

  /// Adds a value.
  ///
  /// - Returns: The value as it is stored.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/duplicateKey`` where there is one of its key.
  @discardableResult
  public func insert(_ value: Domain) async throws(PersistenceError) -> Domain {
    try await domain { store in try await store.insert(try entity(of: value)) }
  }

  /// Replaces the value of the same key.
  ///
  /// - Returns: The value as it is stored.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` where there is none.
  @discardableResult
  public func update(_ value: Domain) async throws(PersistenceError) -> Domain {
    try await domain { store in try await store.update(try entity(of: value)) }
  }

  /// Replaces the value of the same key, if what is stored is still what was expected.
  ///
  /// - Parameters:
  ///   - value: The new one.
  ///   - expected: The one that the change began with.
  /// - Returns: The value as it is stored.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/conflict`` where something else is stored.
  @discardableResult
  public func update(_ value: Domain, replacing expected: Domain) async throws(PersistenceError) -> Domain {
    try await domain { store in
      try await store.update(try entity(of: value), replacing: try entity(of: expected))
    }
  }

  /// Adds a value, or replaces the one of the same key.
  ///
  /// - Returns: The value as it is stored.
  /// - Throws: ``PersistenceError``.
  @discardableResult
  public func save(_ value: Domain) async throws(PersistenceError) -> Domain {
    try await domain { store in try await store.save(try entity(of: value)) }
  }

  /// Adds values, or replaces those of the same keys, all or none of them.
  ///
  /// - Parameter values: What is saved.
  /// - Throws: ``PersistenceError``.
  public func save(contentsOf values: [Domain]) async throws(PersistenceError) {
    try await use { store in
      _ = try await store.apply(ChangeBatch(try values.map { .save(try entity(of: $0)) }))
    }
  }

  /// Deletes the value of the same key.
  ///
  /// - Returns: The value as it was stored; nil where there was none.
  /// - Throws: ``PersistenceError``.
  @discardableResult
  public func delete(_ value: Domain) async throws(PersistenceError) -> Domain? {
    try await use { store in
      let deleted = try await store.delete(try entity(of: value))
      return try deleted.map { try domain(of: $0) }
    }
  }

  /// The value of a key.
  ///
  /// - Returns: The value; nil where there is none.
  /// - Throws: ``PersistenceError``.
  public func find(_ key: Entity.PrimaryKey) async throws(PersistenceError) -> Domain? {
    try await use { store in
      let found = try await store.find(key)
      return try found.map { try domain(of: $0) }
    }
  }

  /// The values whose entities fit a condition, whole.
  ///
  /// - Parameters:
  ///   - predicate: Which entities; all by default.
  ///   - sorting: The order; that of the primary key by default.
  ///   - limit: How many at most.
  /// - Returns: The values.
  /// - Throws: ``PersistenceError``.
  public func fetch(
    where predicate: PersistentPredicate<Entity> = .all, sorted sorting: [SortCriterion<Entity>] = [],
    limit: Int? = nil
  ) async throws(PersistenceError) -> [Domain] {
    let query = FetchOptions(predicate: predicate, sorting: sorting, limit: limit)
    return try await use { store in
      let entities = try await store.execute(query)
      return try entities.map { try domain(of: $0) }
    }
  }

  /// How many entities fit a condition.
  ///
  /// - Parameter predicate: Which entities; all by default.
  /// - Returns: Their number.
  /// - Throws: ``PersistenceError``.
  public func count(where predicate: PersistentPredicate<Entity> = .all) async throws(PersistenceError) -> Int
  {
    try await use { store in try await store.count(FetchOptions(predicate: predicate)) }
  }
}

extension DataAccessObject {
  func entity(of value: Domain) throws -> Entity { try Self.mapped { try mapper.entity(of: value) } }
  func domain(of entity: Entity) throws -> Domain { try Self.mapped { try mapper.domain(of: entity) } }

  private static func mapped<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw PersistenceError(
        .encodingFailed, "a \(Domain.self) could not be mapped to or from a stored one: \(error)")
    }
  }

  private func domain(
    _ body: @Sendable (any DataSource<Entity>) async throws -> Entity
  ) async throws(PersistenceError) -> Domain {
    try await use { store in
      let stored = try await body(store)
      return try domain(of: stored)
    }
  }

  private func use<Result: Sendable>(
    _ body: (any DataSource<Entity>) async throws -> Result
  ) async throws(PersistenceError) -> Result {
    let use = begin()
    defer { withExtendedLifetime(use.lease) {} }
    do {
      return try await body(use.store)
    } catch {
      throw PersistenceError(of: error)
    }
  }
}
