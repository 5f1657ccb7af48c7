import PersistenceCore
import PersistenceDriverSupport

/// The rows of requests.
extension FuzzSubject {
  /// The number of rows per read, which is the page size of collections.
  private static let page = 128

  /// More rows than any model has; a context that returns more never ends.
  static let endless = 2_000

  /// Reads all rows of a result, page by page, until a page is short.
  static func rows(of results: any StorageResults) throws -> [[PersistentValue]] {
    var rows: [[PersistentValue]] = []
    while true {
      let before = rows.count
      let count = try results.read(from: before, limit: page) { rows.append(try $0.values()) }
      if count < page || rows.count == before || rows.count > endless { return rows }
    }
  }

  /// Answers the request with the shared evaluator over all rows of the model.
  func evaluated(_ request: FetchRequest, _ reader: any StorageReader) throws -> [[PersistentValue]] {
    let predicate = try CompiledPredicate(request.predicateWithAnchor, in: request.schema)
    let order = try RowOrder(request.totalOrder, in: request.schema)
    var found: [(key: [PersistentValue], row: [PersistentValue])] = []
    let all = try reader.fetch(try FetchRequest(request.schema))
    let buffer = RowBuffer(count: request.schema.fields.count)
    for row in try Self.rows(of: all) {
      buffer.set(row)
      try buffer.withRow { if try predicate.matches($0) { found.append((try order.key(of: $0), row)) } }
    }
    found.sort { order.compare($0.key, $1.key) < 0 }
    return found.dropFirst(request.offset).prefix(request.limit ?? found.count).map(\.row)
  }

  /// Reads the request's rows page by page, each after the last row of the previous page.
  func pages(of query: FuzzQuery, _ pageSize: Int, _ reader: any StorageReader) throws
    -> [[PersistentValue]]
  {
    var rows: [[PersistentValue]] = []
    var page = query
    page.limit = min(pageSize, query.limit ?? pageSize)
    while true {
      let found = try Self.rows(of: try reader.fetch(try page.request(in: schemas)))
      rows += found
      let rest = query.limit.map { $0 - rows.count }
      guard found.count == page.limit, let last = found.last, rest ?? 1 > 0, rows.count <= Self.endless else {
        return rows
      }
      page.after = try FuzzReference.criteria(query, schemas[query.model]).map { last[$0.0] }
      page.offset = 0
      page.limit = min(pageSize, rest ?? pageSize)
    }
  }
}
