import PersistenceCore
import PersistenceDriverSupport

/// A context that passes the rows of short requests on, in a way that may be wrong.
final class PassingContext: StorageContextWrapper, SinglePassContext {
  let wrapped: any StorageContext
  private let rows: @Sendable (any StorageContext, FetchRequest) throws -> [[PersistentValue]]

  init(
    _ wrapped: any StorageContext,
    rows: @escaping @Sendable (any StorageContext, FetchRequest) throws -> [[PersistentValue]]
  ) {
    (self.wrapped, self.rows) = (wrapped, rows)
  }

  func readOnce(_ request: FetchRequest, _ body: (borrowing Row) throws -> Void) throws -> Int? {
    guard request.limit != nil, !request.isPlannedAnew else { return nil }
    let rows = try rows(wrapped, request)
    let buffer = RowBuffer(count: request.schema.fields.count)
    for row in rows {
      buffer.set(row)
      try buffer.withRow(body)
    }
    return rows.count
  }
}
