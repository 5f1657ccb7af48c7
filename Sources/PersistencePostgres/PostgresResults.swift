import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL
import PersistenceSQL

/// The rows of a request, read by one statement, or a page at a time by a cursor of the server.
///
/// If one statement or the first page reads all rows, the result holds nothing of the server.
final class PostgresResults: StorageResults, @unchecked Sendable {  // state is used under the source's lock
  let usesRandomAccess = false
  private let request: FetchRequest
  /// The model and the divided request; nil where the store does not hold the model.
  private let query: PostgresQuery?
  private let columns: PostgresColumns
  private let cursor: PostgresCursor?
  /// The shape of the request, by which the model remembers whether it needs a cursor; nil for one that nothing remembers.
  private let shape: UInt64?
  /// The snapshot or transaction with the rows; nil once all of them are here.
  private var source: (any PostgresReader)?
  /// Held by reads without a source.
  private let lock = NSRecursiveLock()
  /// The rows that were read last, the number of the first among the server's rows, and whether they are the last ones.
  private var page: (rows: PostgresResult, start: Int, isLast: Bool)?
  private var total: Int?
  /// The number of the server's row before each matching row, where a residual remains.
  private var bookmarks = KeysetBookmarks<Int>()

  /// Results of a request, with selected fields or all, of a model; nil where the store does not hold it.
  init(
    _ request: FetchRequest, selecting selected: [Int]?, of model: PostgresModel?, _ dialect: PostgresDialect
  ) throws {
    self.request = request
    guard let model, request.limit != 0 else {
      (query, cursor, shape, total) = (nil, nil, nil, 0)
      columns = PostgresColumns([], of: request.schema)
      return
    }
    let query = try PostgresQuery(request, of: model, dialect)
    self.query = query
    columns = query.columns(selected)
    cursor = PostgresCursor(query, columns)
    shape = request.isPlannedAnew ? nil : query.rows(columns).hash
  }

  deinit {
    guard let cursor, let source else { return }
    try? source.withSession { cursor.discard($0) }
  }

  /// Reads the first page, and returns whether it contains all rows.
  func begin(_ session: PostgresSession) throws -> Bool {
    guard let query, let cursor else { return true }
    let limit = query.page.limit ?? Int.max
    let count = min(query.model.pageLimit, limit)
    let isFirst = !query.model.knowsRowSize
    var (rows, isLast) = try cursor.page(at: 0, count, session)
    if isFirst, !isLast {
      // The first few rows have told their size, so the page has room for more.
      let more = min(query.model.pageLimit, limit, PostgresModel.firstPageLimit)
      if more > count { (rows, isLast) = try cursor.page(at: 0, more, session) }
    }
    isLast = isLast || rows.count == query.page.limit
    page = (rows, 0, isLast)
    if isLast { note(rows: rows.count) }
    return isLast
  }

  /// Sets where further pages come from, after ``begin(_:)`` in another session of the same moment.
  func attach(to source: any PostgresReader, movingTo session: PostgresSession?) throws {
    if let session { try cursor?.move(to: session) }
    self.source = source
  }

  func count() throws -> Int {
    try withPages { session in
      if let total { return total }
      guard let query else { return 0 }
      let counted: Int
      if let page, page.start == 0, page.isLast, query.residual == nil {
        counted = page.rows.count
      } else if let session {
        counted = try session.count(request, of: query.model)
      } else {
        counted = try readMatching(from: 0, request.limit ?? Int.max, nil) { _ in }
      }
      total = counted
      return counted
    }
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    guard offset >= 0, limit > 0, let query else { return 0 }
    let wanted = min(limit, (request.limit ?? Int.max) - offset)
    guard wanted > 0 else { return 0 }
    return try withPages { session in
      if let total, offset >= total { return 0 }
      try ReadInterruption.check()
      return query.residual == nil
        ? try readPages(from: offset, wanted, session) { reader, page, row in try reader.read(page, row, body)
        }
        : try readMatching(from: offset, wanted, session, body)
    }
  }

  /// Calls a closure with the session of further pages, under its lock; with nil if all rows are here.
  private func withPages<Result>(_ body: (PostgresSession?) throws -> Result) throws -> Result {
    if let source { return try source.withSession { try body($0) } }
    lock.lock()
    defer { lock.unlock() }
    return try body(nil)
  }
}

/// Rows that one statement reads.
extension PostgresResults {
  /// The statement that reads all rows without a cursor, or one more than the number that it returns; nil where a cursor
  /// is known to be better, or the size of rows is unknown.
  func wholeStatement() -> (statement: SQLStatement, most: Int)? {
    // A transaction keeps the functions of another program's view from writing.
    guard let query, let shape, !query.model.isView, let most = query.model.wholeLimit else { return nil }
    if let limit = query.page.limit, limit <= most { return (query.rows(columns, upTo: limit), limit) }
    guard !query.model.longShapes.contains(shape) else { return nil }
    return (query.rows(columns, upTo: most + 1), most)
  }

  /// Takes the rows of ``wholeStatement()``; returns false if there are more of them, and the result needs a cursor.
  func begin(_ rows: PostgresResult, atMost most: Int) -> Bool {
    guard let query else { return true }
    query.model.learn(rows: rows.count, bytes: rows.byteCount)
    note(rows: rows.count, atMost: most)
    guard rows.count <= most else { return false }
    page = (rows, 0, true)
    return true
  }

  /// Notes whether a request of this shape needs a cursor.
  private func note(rows: Int, atMost most: Int? = nil) {
    guard let query, let shape, let most = most ?? query.model.wholeLimit else { return }
    query.model.longShapes.note(shape, isLong: rows > most)
  }
}

extension PostgresResults {
  /// Calls a closure with the server's rows from a number on, and returns how many it accepted.
  private func readPages(
    from first: Int, _ wanted: Int, _ session: PostgresSession?,
    _ body: (PostgresRowReader, PostgresResult, Int) throws -> Bool
  ) throws -> Int {
    guard let query else { return 0 }
    let reader = PostgresRowReader(query, columns)
    var (position, count) = (first, 0)
    while count < wanted {
      guard let page = try page(at: position, wanted - count, session) else { break }
      for row in position - page.start..<page.rows.count {
        if row & 0x3F == 0 {
          try ReadInterruption.check()
          session?.takeInAhead()
        }
        position += 1
        if try body(reader, page.rows, row) { count += 1 }
        if count == wanted { break }
      }
      if count < wanted, page.isLast, position == page.start + page.rows.count { break }
    }
    return count
  }

  /// The page with a row of the server; nil beyond the end.
  private func page(at position: Int, _ wanted: Int, _ session: PostgresSession?) throws -> (
    rows: PostgresResult, start: Int, isLast: Bool
  )? {
    if let page {
      let end = page.start + page.rows.count
      if position >= page.start, position < end { return page }
      if page.isLast, position >= end { return nil }
    }
    guard let query, let cursor, let session else { return nil }
    // A reader that goes on gets more rows at once than it asked for.
    let isNext = page.map { position == $0.start + $0.rows.count } ?? false
    let count = max(
      1, min(query.model.pageLimit, isNext || query.residual != nil ? Int.max : max(wanted, 64)))
    let (rows, isLast) = try cursor.page(at: position, count, session)
    if isLast, rows.count > 0 || position == 0 {
      if query.residual == nil { total = position + rows.count }
      note(rows: position + rows.count)
    }
    guard rows.count > 0 else { return nil }
    let next = (rows: rows, start: position, isLast: isLast)
    page = next
    return next
  }

  /// Calls a closure with the rows that the residual accepts.
  private func readMatching(
    from offset: Int, _ wanted: Int, _ session: PostgresSession?, _ body: (borrowing Row) throws -> Void
  ) throws -> Int {
    let (first, overflow) = request.offset.addingReportingOverflow(offset)
    guard !overflow else { return 0 }
    let start = bookmarks.nearest(notAfter: first).map { ($0.row, $0.position) } ?? (0, 0)
    var (matched, raw, count) = (start.0, start.1, 0)
    _ = try readPages(from: raw, Int.max, session) { reader, page, row in
      raw += 1
      var isWanted = false
      let matches = try reader.read(page, row) { row in
        isWanted = matched >= first
        if isWanted { try body(row) }
      }
      if matches {
        matched += 1
        bookmarks.remember(raw, at: matched)
      }
      if isWanted { count += 1 }
      guard count < wanted else { throw Enough() }
      return false
    } onEnough: {
      bookmarks.rememberPageEnd(raw, at: matched)
    }
    return count
  }

  /// Ends a read before the last row.
  private struct Enough: Error {}

  private func readPages(
    from first: Int, _ wanted: Int, _ session: PostgresSession?,
    _ body: (PostgresRowReader, PostgresResult, Int) throws -> Bool, onEnough: () -> Void
  ) throws -> Int {
    do {
      return try readPages(from: first, wanted, session, body)
    } catch is Enough {
      onEnough()
      return 0
    }
  }
}
