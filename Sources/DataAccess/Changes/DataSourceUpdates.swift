public import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport

/// The result of a query of a data source, and the changes since the previous update.
public struct DataSourceUpdate<Object: PersistentRecord>: Sendable {
  /// The objects that match, in the query's order.
  public let objects: [Object]

  /// The changes of ``objects`` since the previous update.
  ///
  /// Unlike in updates of a repository, they concern only the objects within the query's limit and offset.
  public let changes: ChangeSet
}

extension ChangeTrackingDataSource {
  /// The result of a query, again after changes that affect it.
  ///
  /// The first update comes as soon as the data source is reachable. While it is not, the sequence connects again; no
  /// change is missed or told twice, because each update is compared with the previous one. A slow consumer gets the newest
  /// state. Errors that are not retryable end the sequence, such as ``PersistenceError/Code/unauthorized``.
  ///
  /// - Parameters:
  ///   - query: The predicate, order and limits; all objects by default.
  ///   - options: The delays between connections.
  /// - Returns: The updates. An iteration keeps the objects of its last update in memory.
  public func updates(
    _ query: FetchOptions<Object> = FetchOptions(), options: FollowingOptions = FollowingOptions()
  ) -> DataSourceStream<DataSourceUpdate<Object>> {
    DataSourceStream { FollowedResult(self, query, options).next }
  }
}

extension DataSourceQuery where Source: ChangeTrackingDataSource {
  /// The result of the query, again after changes that affect it; see
  /// ``ChangeTrackingDataSource/updates(_:options:)``.
  ///
  /// - Parameter following: The delays between connections.
  /// - Returns: The updates.
  public func updates(_ following: FollowingOptions = FollowingOptions())
    -> DataSourceStream<DataSourceUpdate<Source.Object>>
  {
    source.updates(options, options: following)
  }
}

/// One iteration over the results of a query.
private final class FollowedResult<Source: ChangeTrackingDataSource>: @unchecked Sendable {  // one task
  private let source: Source
  private let query: FetchOptions<Source.Object>
  private let follower: ChangeFollower<Source>
  private var pause: RetryPause
  private var result = ResultChanges<Source.Object>()
  /// Whether the result may have changed since it was fetched.
  private var isDue = true

  init(_ source: Source, _ query: FetchOptions<Source.Object>, _ options: FollowingOptions) {
    (self.source, self.query) = (source, query)
    follower = ChangeFollower(source, since: nil, options)
    pause = RetryPause(options)
  }

  @Sendable
  func next() async throws(PersistenceError) -> DataSourceUpdate<Source.Object>? {
    let scope = try mappingErrors { try QueryScope(query) }
    while true {
      // A checkpoint precedes the fetch, so that no change between them is missed.
      repeat {
        guard let change = try await follower.next() else { return nil }
        let concerns = try mappingErrors { try scope.mayConcern(change, result.objects ?? []) }
        if change.isReset || concerns { isDue = true }
        if !change.hasMore { break }
      } while true
      while isDue {
        do throws(PersistenceError) {
          let objects = try await source.execute(query)
          isDue = false
          pause.end()
          if let changes = try mappingErrors({ try result.replace(with: objects) }) {
            return DataSourceUpdate(objects: objects, changes: changes)
          }
        } catch {
          if Task.isCancelled { return nil }
          guard error.isRetryable else { throw error }
          guard await pause.wait() else { return nil }
        }
      }
    }
  }
}

/// Which changes can affect the result of a query.
struct QueryScope<Object: PersistentRecord> {
  private let schema: ModelSchema
  private let predicate: CompiledPredicate
  private let hasOffset: Bool

  init(_ query: FetchOptions<Object>) throws {
    let request = try query.fetchRequest()
    schema = request.schema
    predicate = try CompiledPredicate(request.predicate, in: schema)
    hasOffset = request.offset > 0
  }

  /// Whether changes may affect a result with some objects.
  func mayConcern(_ changes: ObjectChanges<Object>, _ objects: [Object]) throws -> Bool {
    if changes.saved.isEmpty, changes.deleted.isEmpty { return false }
    // An object before the offset moves all others, and is not in the result.
    if hasOffset { return true }
    let keys = Set(objects.map(\.recordKey))
    if changes.deleted.contains(where: keys.contains) { return true }
    let row = RowBuffer(count: schema.fields.count)
    return try changes.saved.contains { object in
      if keys.contains(object.recordKey) { return true }
      try object.encode(into: row)
      return try row.withRow { try predicate.matches($0) }
    }
  }
}

/// The last result of a query, with which the next one is compared.
struct ResultChanges<Object: PersistentRecord> {
  private(set) var objects: [Object]?

  /// Replaces the result, and returns what has changed; nil for nothing.
  mutating func replace(with new: [Object]) throws -> ChangeSet? {
    defer { objects = new }
    guard let old = objects else { return .first }
    var keys = ChangedKeys()
    var known = Dictionary(old.map { ($0.recordKey, $0) }) { $1 }
    for object in new {
      guard let before = known.removeValue(forKey: object.recordKey) else {
        keys.inserted.insert(object.recordKey)
        continue
      }
      if try !before.hasSameFields(as: object) { keys.updated.insert(object.recordKey) }
    }
    keys.deleted.formUnion(known.keys)
    return keys.count == 0 ? nil : .keys(keys)
  }
}
