import CSQLite
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// The rows of a request, read a page at a time; no statement stays open between pages.
///
/// Where an index or the key yields the order, each page starts with a seek to the end of the previous one (keyset
/// pagination). Otherwise a small result is buffered and sorted here; of a larger one SQLite sorts the row IDs, which
/// take 8 bytes a row, or the keys of a table without row IDs.
final class SQLiteResults: StorageResults, @unchecked Sendable {  // used under the reader's lock
  let usesRandomAccess = false
  private let request: FetchRequest
  private let source: any SQLiteReader
  /// The model and the lowered request; nil where the store does not hold the model.
  private let query: Lowered?
  private let columns: SQLiteColumns
  /// The fields of the order, and their columns.
  private let orderPositions: [Int]
  private let orderColumns: [Int]

  private var total: Int?
  /// The order's values in the row before each bookmark, counted without the request's offset.
  private var bookmarks = KeysetBookmarks<[PersistentValue]>()
  private var rowIDs = SQLiteSortedRowIDs()
  private var buffered: SQLiteBufferedRows?
  private var exceedsBuffer = false
  private var isSorted: Bool?

  /// A point to continue at: a row, and the order's values in the row before it; nil for the first row.
  private typealias Start = (row: Int, values: [PersistentValue]?)

  private typealias Lowered = (model: SQLiteModel, ordered: SQLQuery)

  /// A longer gap between the nearest bookmark and the wanted row is crossed by reading sort keys only.
  private static let skipLimit = 1_024

  /// How many row IDs the first sort keeps, in SQLite's memory too; reading beyond them sorts everything once more.
  private static let firstSortLimit = 8_192

  /// Results of a request in a snapshot or transaction, with selected fields or all.
  init(_ request: FetchRequest, selecting selected: [Int]? = nil, in source: any SQLiteReader) throws {
    if let selected { try request.schema.requirePositions(selected) }
    self.request = request
    self.source = source
    query = try source.withReader { connection in
      try connection.model(for: request.schema).map { model in
        let order = try connection.order(of: request, in: model)
        let predicate = try LoweredPredicate(request.predicate, in: request.schema, SQLiteDialect())
        return (
          model,
          SQLQuery(predicate, order: order, model: model.number, isPlannedAnew: request.isPlannedAnew)
        )
      }
    }
    orderPositions = query?.ordered.order.positions ?? []
    if let selected, let query {
      columns = SQLiteColumns(selected, and: orderPositions, of: query.model.cells)
      orderColumns = columns.columns(of: orderPositions)
    } else {
      columns = query?.model.columns ?? SQLiteColumns(all: [])
      // Each field is in the column of its position.
      orderColumns = orderPositions
    }
    if query == nil || request.limit == 0 { total = 0 }
  }

  func count() throws -> Int {
    try source.withInterruptibleReader { connection in
      if let total { return total }
      guard let query else { return 0 }
      let count = try connection.count(request, withAnchor(query), of: query.model)
      total = count
      return count
    }
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    guard offset >= 0, limit > 0, let query, request.limit != 0 else { return 0 }
    let wanted = min(limit, (request.limit ?? Int.max) - offset)
    guard wanted > 0 else { return 0 }
    return try source.withInterruptibleReader { connection in
      if let total, offset >= total { return 0 }
      if try !mustSort(connection, query, from: offset),
        let count = try readInOrder(connection, query, from: offset, wanted, body)
      {
        return count
      }
      return try readSorted(connection, query, from: offset, wanted, body)
    }
  }

  /// Whether SQLite would sort the rows, as far as that must be known before a statement reads them.
  ///
  /// A statement from the first row on finds out itself. One that seeks, or reads sort keys only, may need no sort where
  /// all rows need one.
  private func mustSort(_ connection: SQLiteConnection, _ query: Lowered, from offset: Int) throws -> Bool {
    if let isSorted { return isSorted }
    if request.after == nil, request.offset <= Self.skipLimit, offset <= Self.skipLimit - request.offset {
      return false
    }
    let statement = query.ordered.select(.rows, columns.items, limit: 0)
    let sorts = try connection.withUnboundStatement(statement, of: query.model) { try $0.planSorts() }
    isSorted = sorts
    return sorts
  }

  /// The request with its anchor as a condition; most requests have none, and are not lowered again.
  private func withAnchor(_ query: Lowered) throws -> SQLQuery {
    guard request.after != nil else { return query.ordered }
    return try SQLQuery(
      request, includingAnchor: true, order: query.ordered.order, model: query.model.number)
  }
}

/// Rows in the order of an index or the key.
extension SQLiteResults {
  /// Reads rows by seeks; nil where one of the seeks turns out to need a sort.
  private func readInOrder(
    _ connection: SQLiteConnection, _ query: Lowered, from offset: Int, _ wanted: Int,
    _ body: (borrowing Row) throws -> Void
  ) throws -> Int? {
    let (first, overflow) = request.offset.addingReportingOverflow(offset)
    guard !overflow else { return 0 }
    var start = nearest(to: first)
    if first - start.row > Self.skipLimit {
      guard try advance(connection, query, from: start, to: first) else { return nil }
      start = nearest(to: first)
    }
    var skipped = first - start.row
    if total != nil, skipped > Self.skipLimit { return 0 }
    var count = 0
    var last: [PersistentValue]?
    let end = first &+ wanted < first ? Int.max : first + wanted
    // No page follows the last row of a limit, so nothing will seek to it.
    let isLastPage = request.limit == offset + wanted
    let (rows, isFull) = try run(.rows, connection, query, after: start, limit: end - start.row) {
      statement, left in
      let cells = statement.cells(of: columns)
      let row = UnsafeBufferPointer(start: UnsafePointer(cells.baseAddress), count: columns.selectedCount)
      while left > 0, try statement.step() {
        left -= 1
        if skipped > 0 {
          skipped -= 1
          continue
        }
        try statement.fill(cells, columns)
        try body(Row(cells: row))
        count += 1
        let next = first + count
        let isPageEnd = left == 0 && !isLastPage
        guard isPageEnd || next % KeysetBookmarks<[PersistentValue]>.interval == 0 else { continue }
        let values = try statement.values(orderColumns, of: orderPositions)
        bookmarks.remember(values, at: next)
        if isPageEnd { last = values }
      }
    }
    guard rows != nil else { return nil }
    if let last { bookmarks.rememberPageEnd(last, at: end) }
    if !isFull, count < wanted, skipped == 0 { setTotal(endingAt: first + count) }
    return count
  }

  private func nearest(to row: Int) -> Start {
    bookmarks.nearest(notAfter: row).map { ($0.row, $0.position) } ?? (0, nil)
  }

  /// Sets the total from the number of the last row, which a short page reveals.
  private func setTotal(endingAt row: Int) {
    if total == nil { total = max(0, row - request.offset) }
  }

  /// Reads sort keys up to a row and sets bookmarks; false where SQLite would have to sort.
  private func advance(_ connection: SQLiteConnection, _ query: Lowered, from start: Start, to end: Int)
    throws -> Bool
  {
    var row = start.row
    let (rows, _) = try run(.orderKeys, connection, query, after: start, limit: end - start.row) {
      statement, left in
      while left > 0, try statement.step() {
        left -= 1
        row += 1
        try bookmarks.remember(statement.values(orderPositions), at: row)
      }
    }
    if rows != nil, row < end { setTotal(endingAt: row) }
    return rows != nil
  }

  /// Runs the statements that yield the rows from a start, one after the other, until there are enough.
  ///
  /// The closure steps through one statement, and counts down how many rows are left to read. The number of rows is
  /// nil where a statement would have to sort.
  private func run(
    _ kind: StatementKey.Kind, _ connection: SQLiteConnection, _ query: Lowered, after start: Start,
    limit: Int, _ body: (SQLiteStatement, inout Int) throws -> Void
  ) throws -> (rows: Int?, isFull: Bool) {
    var left = limit
    // An array of one absent seek would be allocated for each query.
    guard let values = start.values ?? request.after?.values else {
      let isDone = try run(kind, connection, query, after: nil, limit: limit, &left, body)
      return (isDone ? limit - left : nil, left == 0)
    }
    for seek in query.ordered.seeks(after: values, in: query.model.table) {
      guard try run(kind, connection, query, after: seek, limit: limit, &left, body) else {
        return (nil, false)
      }
      if left == 0 { return (limit, true) }
    }
    return (limit - left, false)
  }

  /// Runs the statement of one seek, or of the first rows; false where it would have to sort.
  private func run(
    _ kind: StatementKey.Kind, _ connection: SQLiteConnection, _ query: Lowered,
    after seek: LoweredPredicate?, limit: Int, _ left: inout Int,
    _ body: (SQLiteStatement, inout Int) throws -> Void
  ) throws -> Bool {
    let statement = query.ordered.select(
      kind, kind == .rows ? columns.items : [], after: seek, limit: left == Int.max ? nil : left)
    let needsSort = try connection.withUnboundStatement(statement, of: query.model) { prepared in
      // Once rows have been delivered, a statement that sorts is accepted.
      if left == limit, try prepared.planSorts() { return true }
      if kind == .rows, seek == nil { isSorted = false }
      try prepared.bind(statement)
      try body(prepared, &left)
      return false
    }
    if needsSort { isSorted = true }
    return !needsSort
  }
}

/// Rows in an order that needs a sort.
extension SQLiteResults {
  private func readSorted(
    _ connection: SQLiteConnection, _ known: Lowered, from offset: Int, _ wanted: Int,
    _ body: (borrowing Row) throws -> Void
  ) throws -> Int {
    if let buffered { return try buffered.read(from: offset, wanted, body) }
    let (model, query) = (known.model, try withAnchor(known))
    if offset == 0, wanted == (request.limit ?? Int.max) {
      // The caller reads everything at once: SQLite sorts whole rows, and nothing is kept.
      return try readAll(query, connection, model, body)
    }
    if !exceedsBuffer, let rows = try buffer(query, connection, model) {
      return try rows.read(from: offset, wanted, body)
    }
    let (end, overflow) = offset.addingReportingOverflow(wanted)
    if !rowIDs.isComplete, overflow || end > rowIDs.count {
      let isFirst = !overflow && end <= Self.firstSortLimit
      try rowIDs.load(
        query, connection, model, offset: request.offset,
        limit: isFirst ? min(Self.firstSortLimit, request.limit ?? Int.max) : request.limit, isAll: !isFirst)
    }
    if rowIDs.isComplete { total = rowIDs.count }
    return try rowIDs.read(columns, connection, model, from: offset, wanted, body)
  }

  /// Buffers all rows; nil where they exceed the buffer, or where one is damaged, which reading it reports.
  private func buffer(_ query: SQLQuery, _ connection: SQLiteConnection, _ model: SQLiteModel) throws
    -> SQLiteBufferedRows?
  {
    let rows = SQLiteBufferedRows(columns, in: query.order.rows, at: orderColumns)
    let statement = query.unordered(columns.items)
    exceedsBuffer = true
    try connection.withStatement(statement, of: model) { prepared in
      let cells = prepared.cells(of: columns)
      while try prepared.step() {
        guard prepared.firstMismatch(cells, columns) == nil, rows.append(cells) else { return }
      }
      exceedsBuffer = false
    }
    guard !exceedsBuffer else { return nil }
    rows.sort(offset: request.offset, limit: request.limit)
    buffered = rows
    total = rows.count
    return rows
  }

  private func readAll(
    _ query: SQLQuery, _ connection: SQLiteConnection, _ model: SQLiteModel,
    _ body: (borrowing Row) throws -> Void
  ) throws -> Int {
    let statement = query.select(.rows, columns.items, limit: request.limit, offset: request.offset)
    return try connection.withStatement(statement, of: model) { prepared in
      var count = 0
      while try prepared.step() {
        try prepared.withRow(columns, body)
        count += 1
      }
      total = count
      return count
    }
  }
}
