public import PersistenceCore
public import PersistenceDriver

/// Access to domain values that a store keeps as entities, for teams that keep persistence out of their models.
///
/// Values go in and come out. Entities appear only in the ``Mapper`` and in predicates. An error of a mapping
/// rule becomes a ``PersistenceError`` with code ``PersistenceError/Code/encodingFailed``.
///
/// ```swift
/// let movies = DataAccessObject(repository, mapper)
/// try await movies.save(Movie(title: "Alien"))
/// let long = try await movies.fetch(where: \.minutes > 120)
/// ```
public struct DataAccessObject<Domain: Sendable, Entity: PersistentRecord>: Sendable {
  /// Maps domain values to entities.
  public let mapper: Mapper<Domain, Entity>

  let begin: @Sendable () -> DataSourceUse<Entity>

  init(_ mapper: Mapper<Domain, Entity>, begin: @escaping @Sendable () -> DataSourceUse<Entity>) {
    self.mapper = mapper
    self.begin = begin
  }

  /// Creates access to the entities of a repository.
  public init(_ repository: any PersistentRepository, _ mapper: Mapper<Domain, Entity>) {
    let provider = RepositoryDataSourceProvider(repository)
    self.init(mapper) {
      DataSourceUse(source: provider.dataSource(of: Entity.self), provider: provider, lease: nil)
    }
  }

  /// Creates access to the entities of any data source, without updates.
  public init(_ source: any DataSource<Entity>, _ mapper: Mapper<Domain, Entity>) {
    self.init(mapper) { DataSourceUse(source: source, provider: nil, lease: nil) }
  }

  /// Inserts a value.
  ///
  /// - Returns: The stored value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/duplicateKey`` if the key exists.
  @discardableResult
  public func insert(_ value: Domain) async throws(PersistenceError) -> Domain {
    try await domain { source in try await source.insert(try entity(of: value)) }
  }

  /// Replaces the value of the same key.
  ///
  /// - Returns: The stored value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` if the value does not exist.
  @discardableResult
  public func update(_ value: Domain) async throws(PersistenceError) -> Domain {
    try await domain { source in try await source.update(try entity(of: value)) }
  }

  /// Replaces the value of the same key if the stored value equals the expected one.
  ///
  /// - Parameters:
  ///   - value: The new value.
  ///   - expected: The value that the change is based on.
  /// - Returns: The stored value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/conflict`` if the stored value differs.
  @discardableResult
  public func update(_ value: Domain, replacing expected: Domain) async throws(PersistenceError) -> Domain {
    try await domain { source in
      try await source.update(try entity(of: value), replacing: try entity(of: expected))
    }
  }

  /// Inserts a value, or replaces the one of the same key.
  ///
  /// - Returns: The stored value.
  /// - Throws: ``PersistenceError``.
  @discardableResult
  public func save(_ value: Domain) async throws(PersistenceError) -> Domain {
    try await domain { source in try await source.save(try entity(of: value)) }
  }

  /// Inserts or replaces values, all of them or none.
  ///
  /// - Parameter values: The values.
  /// - Throws: ``PersistenceError``.
  public func save(contentsOf values: [Domain]) async throws(PersistenceError) {
    try await use { source in
      _ = try await source.apply(ChangeBatch(try values.map { .save(try entity(of: $0)) }))
    }
  }

  /// Deletes the value of the same key.
  ///
  /// - Returns: The deleted value; nil if it did not exist.
  /// - Throws: ``PersistenceError``.
  @discardableResult
  public func delete(_ value: Domain) async throws(PersistenceError) -> Domain? {
    try await use { source in
      let deleted = try await source.delete(try entity(of: value))
      return try deleted.map { try domain(of: $0) }
    }
  }

  /// The value of a key.
  ///
  /// - Returns: The value; nil if it does not exist.
  /// - Throws: ``PersistenceError``.
  public func find(_ key: Entity.PrimaryKey) async throws(PersistenceError) -> Domain? {
    try await use { source in
      let found = try await source.find(key)
      return try found.map { try domain(of: $0) }
    }
  }

  /// All values whose entities match a predicate.
  ///
  /// - Parameters:
  ///   - predicate: The predicate; all entities by default.
  ///   - sorting: The order; by primary key by default.
  ///   - limit: The maximum number of values.
  /// - Returns: The values.
  /// - Throws: ``PersistenceError``.
  public func fetch(
    where predicate: PersistentPredicate<Entity> = .all, sorted sorting: [SortCriterion<Entity>] = [],
    limit: Int? = nil
  ) async throws(PersistenceError) -> [Domain] {
    let query = FetchOptions(predicate: predicate, sorting: sorting, limit: limit)
    return try await use { source in
      let entities = try await source.execute(query)
      return try entities.map { try domain(of: $0) }
    }
  }

  /// The number of entities that match a predicate.
  ///
  /// - Parameter predicate: The predicate; all entities by default.
  /// - Returns: The number.
  /// - Throws: ``PersistenceError``.
  public func count(where predicate: PersistentPredicate<Entity> = .all) async throws(PersistenceError) -> Int
  {
    try await use { source in try await source.count(FetchOptions(predicate: predicate)) }
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
      throw PersistenceError(.encodingFailed, "the mapper failed for a \(Domain.self): \(error)")
    }
  }

  private func domain(
    _ body: @Sendable (any DataSource<Entity>) async throws -> Entity
  ) async throws(PersistenceError) -> Domain {
    try await use { source in
      let stored = try await body(source)
      return try domain(of: stored)
    }
  }

  private func use<Result: Sendable>(
    _ body: (any DataSource<Entity>) async throws -> Result
  ) async throws(PersistenceError) -> Result {
    let use = begin()
    defer { withExtendedLifetime(use.lease) {} }
    do {
      return try await body(use.source)
    } catch {
      throw PersistenceError(of: error)
    }
  }
}
