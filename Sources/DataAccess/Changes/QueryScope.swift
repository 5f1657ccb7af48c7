import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport

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
