import PersistenceCore
import PersistenceDriverSupport

/// The rows of requests.
extension FuzzSubject {
  /// The text that stands for an error in outcomes.
  static func code(_ error: any Error) -> String {
    switch error {
    // The reference does not know which declarations a store has met.
    case let error as PersistenceError where error.code == .newerStore:
      PersistenceError.Code.schemaMismatch.rawValue
    case let error as PersistenceError: error.code.rawValue
    case is RolledBack: rollback
    case let error as UnevenRow: error.description
    case is FuzzFunction.Failure: FuzzFunction.Failure.code
    default: "\(type(of: error)), which is not a PersistenceError: \(error)"
    }
  }

  /// The number of rows per read, which is the page size of collections.
  private static let page = 128

  /// More rows than any model has; a context that returns more never ends.
  static let endless = 2_000

  /// A row with another number of cells than fields, which no position can be read from.
  struct UnevenRow: Error, CustomStringConvertible {
    let found: Int
    let fields: Int

    var description: String { "a row of \(found) cells instead of \(fields)" }
  }

  /// Reads the rows of a request, which have a cell for each field.
  static func rows(of request: FetchRequest, from reader: any StorageReader) throws -> [[PersistentValue]] {
    let rows = try rows(of: try reader.fetch(request))
    let width = request.schema.fields.count
    if let row = rows.first(where: { $0.count != width }) {
      throw UnevenRow(found: row.count, fields: width)
    }
    return rows
  }

  /// Reads all rows of a result, page by page, until a page is short.
  static func rows(of results: any StorageResults) throws -> [[PersistentValue]] {
    var rows: [[PersistentValue]] = []
    while true {
      let before = rows.count
      let count = try results.read(from: before, limit: page) { rows.append(try $0.values()) }
      if count < page || rows.count == before || rows.count > endless { return rows }
    }
  }

  /// Reads the rows of a request as a store passes them on once; those of a fetch, if it does not.
  static func rowsOfOnePass(_ request: FetchRequest, from reader: any StorageReader) throws
    -> [[PersistentValue]]
  {
    func passed(_ request: FetchRequest) throws -> [[PersistentValue]]? {
      var rows: [[PersistentValue]] = []
      let count = try (reader as? any SinglePassContext)?.readOnce(request) { rows.append(try $0.values()) }
      // A wrong number is in the outcome, too.
      return count.map { $0 == rows.count ? rows : rows + [[.integer(Int64($0))]] }
    }
    guard let first = try passed(request) else { return try Self.rows(of: request, from: reader) }
    // The shorter pass has the plan that the first one may have kept.
    let limit = max(0, (request.limit ?? 0) - 1)
    let shorter = try FetchRequest(
      request.schema, where: request.predicate, order: request.order, limit: limit, offset: request.offset,
      after: request.after)
    guard let second = try passed(shorter) else { return first }
    return second == Array(first.prefix(limit)) ? first : first + second
  }

  /// Answers the request with the shared evaluator over all rows of the model.
  func evaluated(_ request: FetchRequest, _ reader: any StorageReader) throws -> [[PersistentValue]] {
    let predicate = try CompiledPredicate(request.predicateWithAnchor, in: request.schema)
    let order = try RowOrder(request.totalOrder, in: request.schema)
    var found: [(key: [PersistentValue], row: [PersistentValue])] = []
    let buffer = RowBuffer(count: request.schema.fields.count)
    for row in try Self.rows(of: FetchRequest(request.schema), from: reader) {
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
      let found = try Self.rows(of: page.request(in: schemas, fewKeys: fewKeys, by: reader), from: reader)
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

  /// Reads the rows of a query page by page, each after the bookmark of the last row of the previous page.
  func pages(of query: RelatedQuery, _ pageSize: Int, _ reader: any StorageReader) throws
    -> [[PersistentValue]]
  {
    let order = try query.pageOrder(by: reader)
    var (rows, page): ([[PersistentValue]], RelatedQuery) = ([], query)
    var anchor: PageAnchor?
    while true {
      page.limit = min(pageSize, query.limit.map { $0 - rows.count } ?? pageSize)
      let found = try Self.rows(of: page.answered(by: reader, after: anchor).fetch())
      rows += found
      guard found.count == page.limit, let last = found.last, rows.count <= Self.endless else { return rows }
      anchor = try order.anchor(of: order.positions.map { last[$0] })
      page.offset = 0
    }
  }
}
