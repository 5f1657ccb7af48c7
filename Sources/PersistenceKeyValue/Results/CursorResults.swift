import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// Results whose path yields them in order: read a page at a time from bookmarks, without keeping rows.
///
/// The bookmarks make a jump to any row that was passed before near-constant.
final class CursorResults: StorageResults {
  private struct State {
    /// The positions of rows, counted before the offset is applied.
    var bookmarks = KeysetBookmarks<Bookmark>()
    /// The number of rows before offset and limit; known after a cursor has reached the end.
    var total: Int?
  }

  /// A row to read from; a tuple would be copied through its metadata.
  private struct Start {
    var row = 0
    var position = Bookmark()
  }

  private let query: PreparedQuery
  private let source: any ByteSource
  private let selection: [Int]?
  private let state = Mutex(State())

  init(_ query: PreparedQuery, _ source: any ByteSource, selecting selection: [Int]? = nil) {
    self.query = query
    self.source = source
    self.selection = selection
  }

  var usesRandomAccess: Bool {
    guard query.request.limit == nil, query.isWholeIndex else { return false }
    return !query.isKeyOnly(selection ?? Array(query.binding.declared.fields.indices))
  }

  /// The range of the query's rows that the result contains; its end is `Int.max` without a limit.
  private var window: Range<Int> { query.request.offset..<query.wanted }

  func count() throws -> Int {
    let window = window
    let known = state.withLock { $0.total }
    if let known { return window.clamped(to: 0..<known).count }
    return try source.withReader { reader in
      if query.isWhole {
        let total = try query.count(reader)
        state.withLock { if query.request.limit == nil { $0.total = total + window.lowerBound } }
        return total
      }
      // Counting does not decode rows, but leaves bookmarks for later reads.
      let end = try scan(reader, from: Int.max, to: window.upperBound, filling: []) { _, _ in }
      return max(0, min(end, window.upperBound) - window.lowerBound)
    }
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    guard limit > 0, offset >= 0 else { return 0 }
    let window = window
    let (start, startOverflows) = window.lowerBound.addingReportingOverflow(offset)
    guard !startOverflows, start < window.upperBound else { return 0 }
    let (end, endOverflows) = start.addingReportingOverflow(limit)
    return try source.withReader { reader in
      let stop = min(window.upperBound, endOverflows ? Int.max : end)
      let reached: Int
      if let selection {
        let selected = PushedDownSelection(selection, copying: reader.copiesRows)
        reached = try scan(reader, from: start, to: stop, filling: selection) { cursor, _ in
          try selected.apply(to: cursor.row, body)
        }
      } else {
        reached = try scan(reader, from: start, to: stop, filling: nil) { cursor, record in
          try cursor.read(record, body)
        }
      }
      return max(0, reached - start)
    }
  }

  /// Reads from the nearest bookmark, and passes the rows from one number up to another to a closure; returns
  /// the number of the first row that was not read.
  private func scan(
    _ reader: any ByteReader, from start: Int, to end: Int, filling wanted: [Int]?,
    _ body: (RowCursor, OrderedEntry) throws -> Void
  ) throws -> Int {
    guard let first = nearest(to: start == Int.max ? end : start) else {
      return state.withLock { $0.total ?? 0 }
    }
    let cursor = try RowCursor(query, reader, from: first.position, filling: wanted)
    defer { cursor.close() }
    var row = first.row
    while row < end, let record = try cursor.next() {
      // Without a filter, the first row is where the path begins.
      if row % KeysetBookmarks<Bookmark>.interval == 0, row > 0 || query.isFiltered {
        state.withLock { $0.bookmarks.remember(cursor.bookmark, at: row) }
      }
      if row >= start { try body(cursor, record) }
      row += 1
    }
    let isWhole = start == window.lowerBound && (row < end || end == window.upperBound)
    state.withLock { state in
      if row < end { state.total = row }
      // No page follows, and another read from the beginning is as fast as one from a bookmark.
      if isWhole, !query.isFiltered, row <= KeysetBookmarks<Bookmark>.interval { return }
      // The last row of a page is read again before the next page. A cursor at the end may have lost its last entry.
      if cursor.entry != nil, row >= end || reader.keepsEntries {
        state.bookmarks.rememberPageEnd(cursor.bookmark, at: row - 1)
      }
    }
    return row
  }

  /// The nearest bookmark at or before a row; nil where the row lies beyond the known end.
  private func nearest(to row: Int) -> Start? {
    state.withLock { state in
      if let total = state.total, row >= total, row != Int.max { return nil }
      guard let found = state.bookmarks.nearest(notAfter: row) else { return Start() }
      return Start(row: found.row, position: found.position)
    }
  }
}
