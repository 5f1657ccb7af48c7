public import PersistenceCore
public import PersistenceDriver
import Synchronization

extension PersistentRepository {
  /// The objects of one kind in this repository, as a store that suspends instead of blocking.
  ///
  /// - Parameter type: What is kept.
  /// - Returns: A store; several of the same kind are one.
  public func dataSource<Object: PersistentRecord>(of type: Object.Type) -> RepositoryDataSource<Object> {
    RepositoryDataSource(self)
  }
}

/// The objects of one kind in a repository.
///
/// The context is called on threads of the store's own, never on those of the cooperative pool. A call whose task is
/// cancelled before it began does nothing; one that has begun is finished, so that a write is never half known.
public struct RepositoryDataSource<Object: PersistentRecord>: DataSource {
  /// What the store is a part of.
  public let repository: any PersistentRepository

  /// Makes a store.
  public init(_ repository: any PersistentRepository) { self.repository = repository }

  /// Adds an object.
  @discardableResult
  public func insert(_ object: Object) async throws(PersistenceError) -> Object {
    try await work { try $0.insert(object) }
    return object
  }

  /// Replaces the object of the same key.
  @discardableResult
  public func update(_ object: Object) async throws(PersistenceError) -> Object {
    try await work { try $0.update(object) }
    return object
  }

  /// Replaces the object of the same key, if what is stored is still what was expected.
  @discardableResult
  public func update(_ object: Object, replacing expected: Object) async throws(PersistenceError) -> Object {
    try await work { try $0.transaction { try $0.update(object, replacing: expected) } }
    return object
  }

  /// Adds an object, or replaces the one of the same key.
  @discardableResult
  public func save(_ object: Object) async throws(PersistenceError) -> Object {
    try await work { try $0.save(object) }
    return object
  }

  /// Deletes the object of the same key.
  @discardableResult
  public func delete(_ object: Object) async throws(PersistenceError) -> Object? {
    try await work { repository in
      try repository.transaction { inside in
        let stored = try inside.find(Object.self, id: object.primaryKey)
        if stored != nil { try inside.delete(object) }
        return stored
      }
    }
  }

  /// Makes several changes in one transaction, once however often the batch is sent.
  @discardableResult
  public func apply(_ batch: ChangeBatch<Object>) async throws(PersistenceError) -> Bool {
    try await work { repository in
      try repository.applyOnce(batch.id) { inside in
        for change in batch.changes { try inside.apply(change) }
      }
    }
  }

  /// The object of a key.
  public func find(_ key: Object.PrimaryKey) async throws(PersistenceError) -> Object? {
    try await work { try $0.find(Object.self, id: key) }
  }

  /// The objects of a query, whole.
  public func execute(_ query: FetchOptions<Object>) async throws(PersistenceError) -> [Object] {
    var objects: [Object] = []
    // Page by page, so that a long answer to a task that was cancelled ends.
    for try await page in pages(query, size: 1024) { objects += page }
    return objects
  }

  /// How many objects a query has.
  public func count(_ query: FetchOptions<Object>) async throws(PersistenceError) -> Int {
    try await work { try $0.count(Object.self, options: query) }
  }

  /// The objects of a query as they were when the first page was read, a page at a time.
  public func pages(_ query: FetchOptions<Object>, size: Int) -> DataSourcePages<Object, PersistenceError> {
    DataSourcePages { ResultPager(store: self, query: query, size: max(1, size)).next }
  }

  func work<Result: Sendable>(
    _ body: @escaping @Sendable (any PersistentRepository) throws -> Result
  ) async throws(PersistenceError) -> Result {
    let repository = repository
    return try await BlockingThreads.shared.run { try body(repository) }
  }
}
