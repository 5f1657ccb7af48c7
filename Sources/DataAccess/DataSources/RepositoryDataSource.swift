public import PersistenceCore
public import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

extension PersistentRepository {
  /// The objects of one kind in this repository, as a data source that suspends instead of blocking.
  ///
  /// - Parameter type: The type of the objects.
  /// - Returns: A data source. All data sources of one type share the same objects.
  public func dataSource<Object: PersistentRecord>(of type: Object.Type) -> RepositoryDataSource<Object> {
    RepositoryDataSource(self)
  }
}

/// A data source of the objects of one kind in a repository.
///
/// It calls the context on a pool of threads that may block, never on the cooperative pool. A call whose task
/// is cancelled before it starts does nothing. A call that has started finishes, so the outcome of a write is
/// always known.
public struct RepositoryDataSource<Object: PersistentRecord>: DataSource {
  /// The repository that stores the objects.
  public let repository: any PersistentRepository

  /// Whether the repository is a copy of another store, whose references are not kept (contract L9).
  private var isMirror = false

  /// Creates a data source.
  public init(_ repository: any PersistentRepository) { self.repository = repository }

  /// The data source of a copy that layers fill.
  var mirror: RepositoryDataSource {
    var mirror = self
    mirror.isMirror = true
    return mirror
  }

  /// The limits of a batch that joins several writes.
  public var batchLimits: BatchLimits? { BatchLimits() }

  /// Adds an object.
  @discardableResult
  public func insert(_ object: Object) async throws(PersistenceError) -> Object {
    try await write { try $0.insert(object) }
    return object
  }

  /// Replaces the object of the same key.
  @discardableResult
  public func update(_ object: Object) async throws(PersistenceError) -> Object {
    try await write { try $0.update(object) }
    return object
  }

  /// Replaces the object of the same key if the stored object equals the expected one.
  @discardableResult
  public func update(_ object: Object, replacing expected: Object) async throws(PersistenceError) -> Object {
    try await write(atomically: true) { try $0.update(object, replacing: expected) }
    return object
  }

  /// Inserts an object, or replaces the one of the same key.
  @discardableResult
  public func save(_ object: Object) async throws(PersistenceError) -> Object {
    try await write { try $0.save(object) }
    return object
  }

  /// Deletes the object of the same key.
  @discardableResult
  public func delete(_ object: Object) async throws(PersistenceError) -> Object? {
    try await write(atomically: true) { inside in
      let stored = try inside.find(Object.self, id: object.primaryKey)
      if stored != nil { try inside.delete(object) }
      return stored
    }
  }

  /// Applies the changes of a batch in one transaction, once for each batch id.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/batchReused`` if a batch with this id and other
  ///   changes was applied before; and the errors of the changes.
  @discardableResult
  public func apply(_ batch: ChangeBatch<Object>) async throws(PersistenceError) -> Bool {
    try await work { [isMirror] repository in
      let digest = try batch.digest()
      return try repository.applyOnce(
        batch.id, digest: digest, isMirror: isMirror, replayable: true
      ) { inside in
        for change in batch.changes { try inside.apply(change) }
      }
    }
  }

  /// The object of a key.
  public func find(_ key: Object.PrimaryKey) async throws(PersistenceError) -> Object? {
    try await work { try $0.find(Object.self, id: key) }
  }

  /// All objects that match a query.
  public func execute(_ query: FetchOptions<Object>) async throws(PersistenceError) -> [Object] {
    var objects: [Object] = []
    // Pages let a cancelled task stop in the middle of a long answer.
    for try await page in pages(query, size: 1024) { objects += page }
    return objects
  }

  /// The number of objects that match a query.
  public func count(_ query: FetchOptions<Object>) async throws(PersistenceError) -> Int {
    try await work { try $0.count(Object.self, options: query) }
  }

  /// The objects that match a query, in pages of the snapshot that the first page was read from.
  public func pages(_ query: FetchOptions<Object>, size: Int) -> DataSourcePages<Object, PersistenceError> {
    DataSourcePages { ResultPager(source: self, query: query, size: max(1, size)).next }
  }

  /// Runs a write, which may run more than once.
  private func write<Result: Sendable>(
    atomically isAtomic: Bool = false,
    _ body: @escaping @Sendable (any PersistentRepository) throws -> Result
  ) async throws(PersistenceError) -> Result {
    try await work { [isMirror] repository in
      if isMirror { return try repository.mirrorTransaction(replayable: true, body) }
      return isAtomic ? try repository.transaction(replayable: true, body) : try body(repository)
    }
  }

  func work<Result: Sendable>(
    _ body: @escaping @Sendable (any PersistentRepository) throws -> Result
  ) async throws(PersistenceError) -> Result {
    let repository = repository
    return try await BlockingThreads.shared.call { try body(repository) }
  }
}

extension RepositoryDataSource {
  /// The result of a query, again after each commit that can affect it, including commits of other processes.
  ///
  /// - Parameters:
  ///   - query: The predicate, order and limits; all objects by default.
  ///   - options: The limit on reported keys, and how to watch other processes.
  /// - Returns: The updates; see ``PersistenceCore/RecordUpdates``.
  public func updates(
    _ query: FetchOptions<Object> = FetchOptions(), options: ObservationOptions = ObservationOptions()
  ) -> RecordUpdates<Object> {
    repository.updates(of: query, options: options)
  }
}

extension DataSourceQuery {
  /// The result of the query, again after each commit that can affect it, including commits of other processes.
  ///
  /// - Parameter observation: The limit on reported keys, and how to watch other processes.
  /// - Returns: The updates; see ``PersistenceCore/RecordUpdates``.
  public func updates<Object>(
    _ observation: ObservationOptions = ObservationOptions()
  ) -> RecordUpdates<Object> where Source == RepositoryDataSource<Object> {
    source.updates(options, options: observation)
  }
}

extension RepositoryDataSource {
  /// Creates a data source over a new store in memory, for tests and caches.
  ///
  /// - Parameter objects: The initial objects.
  /// - Returns: The data source.
  /// - Throws: ``PersistenceError`` if two objects have the same key or the same value of a unique index.
  public static func inMemory(_ objects: [Object] = []) throws -> RepositoryDataSource {
    let repository = Repository(MemoryContext())
    try Object.insert(objects, in: repository.context)
    return RepositoryDataSource(repository)
  }
}

/// Reads one lazy result and its snapshot, a page at a time.
final class ResultPager<Object: PersistentRecord>: Sendable {
  private let source: RepositoryDataSource<Object>
  private let query: FetchOptions<Object>
  private let size: Int
  private let rest = Mutex<PersistentResults<Object>?>(nil)

  init(source: RepositoryDataSource<Object>, query: FetchOptions<Object>, size: Int) {
    self.source = source
    self.query = query
    self.size = size
  }

  @Sendable
  func next() async throws(PersistenceError) -> [Object]? {
    let page = try await source.work { [self] repository -> [Object] in
      let results = try rest.withLock(\.self) ?? Object.results(in: repository.context, options: query)
      var page: [Object] = []
      page.reserveCapacity(min(size, 1024))
      try results.prefix(size).forEach { page.append($0) }
      rest.withLock { $0 = results.dropFirst(page.count) }
      return page
    }
    return page.isEmpty ? nil : page
  }
}
