public import Foundation
public import PersistenceCore
import PersistenceDriver
import Synchronization

/// A store in memory that holds no more than it may, and forgets what was not used for longest.
///
/// As the cache of a ``LayeredDataSource`` it knows which questions it can answer whole, and leaves the others to the layers
/// below. Asked by itself it is a store like any other, which holds what it has not yet forgotten.
public final class CacheDataSource<Object: PersistentRecord>: DataSource {
  /// How much a cache may hold.
  public struct Limits: Sendable, Hashable {
    /// How many objects; nil for any number.
    public var count: Int?
    /// How much they may cost in all; nil for any amount.
    public var cost: Int?
    /// How old an object may be before it is not given out any more; nil for any age.
    public var age: Duration?

    /// States limits.
    public init(count: Int? = 10_000, cost: Int? = nil, age: Duration? = nil) {
      self.count = count
      self.cost = cost
      self.age = age
    }
  }

  private let limits: Limits
  private let now: @Sendable () -> Date
  private let content: Mutex<CacheContent<Object>>

  /// Makes an empty cache.
  ///
  /// - Parameters:
  ///   - limits: How much it may hold.
  ///   - cost: What an object costs, at least zero; one each by default. It might be a number of bytes.
  ///   - now: Tells the time, for ages.
  public init(
    _ limits: Limits = Limits(), cost: @escaping @Sendable (Object) -> Int = { _ in 1 },
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.limits = limits
    self.now = now
    content = Mutex(CacheContent(limits: limits, cost: cost))
  }

  /// How many objects it holds.
  public var objectCount: Int { content.withLock(\.count) }

  /// What they cost.
  public var totalCost: Int { content.withLock(\.totalCost) }

  /// Forgets everything.
  public func removeAll() { content.withLock { $0.removeAll() } }

  /// Uses what is held, as one step for all threads.
  func use<Result: Sendable>(_ body: (inout CacheContent<Object>) throws -> Result) throws(PersistenceError)
    -> Result
  {
    try caught {
      try content.withLock { content in
        if let age = limits.age { content.removeOlder(than: now().addingTimeInterval(-(age / .seconds(1)))) }
        return try body(&content)
      }
    }
  }

  // MARK: As a store of its own

  /// Adds an object.
  @discardableResult
  public func insert(_ object: Object) async throws(PersistenceError) -> Object {
    try write([.insert(object)])
    return object
  }

  /// Replaces the object of the same key.
  @discardableResult
  public func update(_ object: Object) async throws(PersistenceError) -> Object {
    try write([.update(object, replacing: nil)])
    return object
  }

  /// Replaces the object of the same key, if what is held is still what was expected.
  @discardableResult
  public func update(_ object: Object, replacing expected: Object) async throws(PersistenceError) -> Object {
    try write([.update(object, replacing: expected)])
    return object
  }

  /// Adds an object, or replaces the one of the same key.
  @discardableResult
  public func save(_ object: Object) async throws(PersistenceError) -> Object {
    try write([.save(object)])
    return object
  }

  /// Forgets the object of the same key.
  @discardableResult
  public func delete(_ object: Object) async throws(PersistenceError) -> Object? {
    try beginWriting()
    return try use { $0.remove(object.recordKey) }
  }

  /// Makes several changes, all of them or none, once for each of the last batches.
  @discardableResult
  public func apply(_ batch: ChangeBatch<Object>) async throws(PersistenceError) -> Bool {
    try beginWriting()
    let date = now()
    return try use { content in try content.applyOnce(batch.id) { try $0.apply(batch.changes, asOf: date) } }
  }

  /// The object of a key.
  public func find(_ key: Object.PrimaryKey) async throws(PersistenceError) -> Object? {
    if Task.isCancelled { throw .cancelled() }
    return try use { $0.find(RecordKey(key.keyValues)) }
  }

  /// The objects of a query that are held.
  public func execute(_ query: FetchOptions<Object>) async throws(PersistenceError) -> [Object] {
    if Task.isCancelled { throw .cancelled() }
    let question = try caught { try LayerQuery(query) }
    return try use { try $0.objects(of: question.request) }
  }

  /// How many objects of a query are held.
  public func count(_ query: FetchOptions<Object>) async throws(PersistenceError) -> Int {
    try await execute(query).count
  }

  private func write(_ changes: [ObjectChange<Object>]) throws(PersistenceError) {
    try beginWriting()
    let date = now()
    try use { try $0.apply(changes, asOf: date) }
  }

  private func beginWriting() throws(PersistenceError) {
    if Task.isCancelled { throw .cancelled() }
    // A model that no store could keep is refused here too.
    _ = try caught { try Object.schema.model }
  }
}

extension CacheDataSource: ReplicaLayer {
  /// The cache's answer at once, without waiting for anything.
  func answerNow(_ question: LayerQuery<Object>) throws(PersistenceError) -> HeldAnswer<Object>? {
    try use { try $0.answer(question) }
  }

  func answer(_ question: LayerQuery<Object>) async throws(PersistenceError) -> HeldAnswer<Object>? {
    try answerNow(question)
  }

  func held(_ question: LayerQuery<Object>) async throws(PersistenceError) -> [Object] {
    try use { try $0.objects(of: question.request) }
  }

  func mark() async throws(PersistenceError) -> LayerMark {
    LayerMark(doubtCount: content.withLock(\.book.doubtCount))
  }

  func refresh(_ refresh: Refresh<Object>) async throws(PersistenceError) {
    try use { try $0.refresh(refresh) }
  }

  func intend(_ keys: [RecordKey]) async throws(PersistenceError) {}

  func settle(_ changes: [ObjectChange<Object>], asOf date: Date) async throws(PersistenceError) {
    try use { content in
      for change in changes {
        if case .delete(let object) = change {
          _ = content.remove(object.recordKey)
        } else {
          try content.put(change.object, asOf: date)
        }
        content.book.record(change.object.recordKey, asOf: date)
      }
      content.makeRoom()
    }
  }

  func withdraw(_ keys: [RecordKey]) async {}

  func doubt(_ keys: [RecordKey]) async {
    content.withLock { content in
      content.book.doubt(keys)
      for key in keys { _ = content.remove(key) }
    }
  }
}
