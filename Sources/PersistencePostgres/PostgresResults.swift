import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// The rows of a request, read a page at a time by a cursor of the server.
///
/// If all rows fit into the first page, the result holds nothing of the server.
final class PostgresResults: StorageResults, @unchecked Sendable {  // state is used under the source's lock
  let usesRandomAccess = false
  private let request: FetchRequest
  /// The model and the divided request; nil where the store does not hold the model.
  private let query: PostgresQuery?
  private let columns: PostgresColumns
  private let cursor: PostgresCursor?
  /// The snapshot or transaction with the rows; nil once all of them are here.
  private var source: (any PostgresReader)?
  /// Held by reads without a source.
  private let lock = NSRecursiveLock()
  /// The rows that were read last, the number of the first among the server's rows, and whether they are the last ones.
  private var page: (rows: PostgresResult, start: Int, isLast: Bool)?
  private var total: Int?
  /// The number of the server's row before each matching row, where a residual remains.
  private var bookmarks = KeysetBookmarks<Int>()

  /// Results of a request in a session, with selected fields or all.
  init(_ request: FetchRequest, selecting selected: [Int]?, in session: PostgresSession) throws {
    if let selected { try request.schema.requirePositions(selected) }
    self.request = request
    guard let model = try session.model(for: request.schema), request.limit != 0 else {
      (query, cursor, total) = (nil, nil, 0)
      columns = PostgresColumns([], of: request.schema)
      return
    }
    let query = try PostgresQuery(request, of: model, session.store.dialect)
    self.query = query
    columns = query.columns(selected)
    cursor = PostgresCursor(query, columns)
  }

  /// Results whose rows are all here.
  init(
    _ request: FetchRequest, _ query: PostgresQuery, _ columns: PostgresColumns, whole rows: PostgresResult
  ) {
    (self.request, self.query, self.columns, cursor) = (request, query, columns, nil)
    page = (rows, 0, true)
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
    let isWhole = isLast || rows.count == query.page.limit
    page = (rows, 0, isWhole)
    if isWhole { query.model.note(query.rows(columns, upTo: count).hash, fits: true) }
    return isWhole
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
        if row & 0x3F == 0 { try ReadInterruption.check() }
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
    if isLast, query.residual == nil, rows.count > 0 || position == 0 { total = position + rows.count }
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
