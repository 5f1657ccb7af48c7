public import Foundation
public import PersistenceCore
import PersistenceDriver
import Synchronization

/// A cache in memory that evicts the least recently used objects.
///
/// As the cache of a ``LayeredDataSource``, it answers the queries that it holds completely and leaves the
/// others to the other layers. On its own, it is a data source that may lose objects.
public final class CacheDataSource<Object: PersistentRecord>: DataSource {
  /// The limits of a cache.
  public struct Limits: Sendable, Hashable {
    /// The maximum number of objects; nil for no limit.
    public var count: Int?
    /// The maximum total cost; nil for no limit.
    public var cost: Int?
    /// The age after which an object expires; nil for no limit.
    public var age: Duration?

    /// Creates limits.
    public init(count: Int? = 10_000, cost: Int? = nil, age: Duration? = nil) {
      self.count = count
      self.cost = cost
      self.age = age
    }
  }

  private let limits: Limits
  private let dates: SteadyDate
  private let content: Mutex<CacheContent<Object>>

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - limits: The limits of the cache.
  ///   - clock: A monotonic clock, for ages after the date was set back.
  ///   - cost: The cost of an object, at least zero, such as its size in bytes. The default is 1.
  ///   - now: Returns the current date.
  public init(
    _ limits: Limits = Limits(), clock: any Clock<Duration> = ContinuousClock(),
    cost: @escaping @Sendable (Object) -> Int = { _ in 1 },
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.limits = limits
    dates = SteadyDate(clock, date: now)
    content = Mutex(CacheContent(limits: limits, cost: cost))
  }

  /// The number of cached objects.
  public var objectCount: Int { content.withLock(\.count) }

  /// The total cost of the cached objects.
  public var totalCost: Int { content.withLock(\.totalCost) }

  /// Removes all objects.
  public func removeAll() { content.withLock { $0.removeAll() } }

  /// Uses the content under the mutex, after removing expired objects.
  func use<Result: Sendable>(_ body: (inout CacheContent<Object>) throws -> Result) throws(PersistenceError)
    -> Result
  {
    try mappingErrors {
      try content.withLock { content in
        if let age = limits.age { content.removeExpired(after: age / .seconds(1), at: dates.now()) }
        return try body(&content)
      }
    }
  }

  // MARK: Data source

  /// Inserts an object.
  @discardableResult
  public func insert(_ object: Object) async throws(PersistenceError) -> Object {
    try write(.insert(object))
  }

  /// Replaces the object of the same key.
  @discardableResult
  public func update(_ object: Object) async throws(PersistenceError) -> Object {
    try write(.update(object, replacing: nil))
  }

  /// Replaces the object of the same key if the cached object equals the expected one.
  @discardableResult
  public func update(_ object: Object, replacing expected: Object) async throws(PersistenceError) -> Object {
    try write(.update(object, replacing: expected))
  }

  /// Inserts an object, or replaces the one of the same key.
  @discardableResult
  public func save(_ object: Object) async throws(PersistenceError) -> Object {
    try write(.save(object))
  }

  /// Removes the object of the same key.
  @discardableResult
  public func delete(_ object: Object) async throws(PersistenceError) -> Object? {
    try beginWriting()
    return try use { $0.remove(object.recordKey) }
  }

  /// Applies all changes of a batch or none, and ignores recent batches that are sent again.
  @discardableResult
  public func apply(_ batch: ChangeBatch<Object>) async throws(PersistenceError) -> Bool {
    try beginWriting()
    let date = dates.now()
    return try use { content in try content.applyOnce(batch.id) { try $0.apply(batch.changes, asOf: date) } }
  }

  /// The object of a key.
  public func find(_ key: Object.PrimaryKey) async throws(PersistenceError) -> Object? {
    if Task.isCancelled { throw .cancelled() }
    return try use { $0.find(RecordKey(key.keyValues)) }
  }

  /// The cached objects that match a query.
  public func execute(_ query: FetchOptions<Object>) async throws(PersistenceError) -> [Object] {
    if Task.isCancelled { throw .cancelled() }
    let layerQuery = try mappingErrors { try LayerQuery(query) }
    return try use { try $0.objects(of: layerQuery.request) }
  }

  /// The number of cached objects that match a query.
  public func count(_ query: FetchOptions<Object>) async throws(PersistenceError) -> Int {
    try await execute(query).count
  }

  private func write(_ change: ObjectChange<Object>) throws(PersistenceError) -> Object {
    try beginWriting()
    let date = dates.now()
    try use { try $0.apply([change], asOf: date) }
    return change.object
  }

  private func beginWriting() throws(PersistenceError) {
    if Task.isCancelled { throw .cancelled() }
    // Reject the invalid schemas that stores reject.
    _ = try mappingErrors { try Object.schema.model }
  }
}

extension CacheDataSource: ReplicaLayer {
  /// The answer of the cache, without suspending.
  func answerNow(_ layerQuery: LayerQuery<Object>) throws(PersistenceError) -> ReplicaAnswer<Object>? {
    try use { try $0.answer(layerQuery) }
  }

  func answer(_ layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> ReplicaAnswer<Object>? {
    try answerNow(layerQuery)
  }

  func partialObjects(for layerQuery: LayerQuery<Object>) async throws(PersistenceError) -> [Object] {
    try use { try $0.objects(of: layerQuery.request) }
  }

  func version() async throws(PersistenceError) -> ReplicaVersion {
    content.withLock {
      ReplicaVersion(
        invalidationCount: $0.coverageIndex.invalidationCount, evictionCount: $0.evictionCount)
    }
  }

  func refresh(_ refresh: Refresh<Object>) async throws(PersistenceError) -> Bool {
    try use { try $0.refresh(refresh) }
  }

  func prepare(_ keys: [RecordKey]) async throws(PersistenceError) {}

  func commit(
    _ changes: [ObjectChange<Object>], announcedAs keys: [RecordKey], asOf date: Date
  ) async throws(PersistenceError) {
    try use { content in
      for change in changes {
        if case .delete(let object) = change {
          _ = content.remove(object.recordKey)
        } else {
          try content.put(change.object, asOf: date)
        }
        content.coverageIndex.record(change.object.recordKey, asOf: date)
      }
      content.makeRoom()
    }
  }

  func abort(_ keys: [RecordKey]) async {}

  func markStale(_ keys: [RecordKey]) async {
    content.withLock { content in
      content.coverageIndex.markStale(keys)
      for key in keys { _ = content.remove(key) }
    }
  }
}

extension RowBuffer {
  /// Whether encoding may have normalized a number: -0.0, or a NaN with other bits.
  var isFolded: Bool {
    withRow { row in
      (0..<count).contains { position in
        guard row[position].tag == .double || row[position].tag == .date else { return false }
        return row[position].doubleValue == 0 || row[position].doubleValue.isNaN
      }
    }
  }
}
