import PersistenceDriver
import PersistencePlanner
import Synchronization

/// Results whose path yields them in order: read a page at a time, holding nothing but places.
///
/// A place is kept every so many rows as far as the result has been walked, so that a jump back, or to where a
/// walk has been, is near-constant. Memory grows by a key for every ``interval`` rows walked.
final class CursorResults: StorageResults {
  private static let interval = 256
  /// How many ends of reads are kept, for threads that read on from theirs.
  private static let endsLimit = 8

  private struct Mark {
    var row: Int
    var place: Bookmark
  }

  private struct State {
    /// Row `i * interval` of the rows before the offset is cut off.
    var marks: [Bookmark] = []
    var ends: [Mark] = []
    /// How many rows there are before offset and limit; known once the end was met.
    var total: Int?
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
    guard query.request.limit == nil, query.plan.isWholeIndex else { return false }
    return !query.isKeyOnly(selection ?? Array(query.binding.declared.fields.indices))
  }

  /// The rows of the walk that make up the result; the end is `Int.max` where there is no limit.
  private var window: Range<Int> {
    let start = query.request.offset
    let (end, overflows) = start.addingReportingOverflow(query.request.limit ?? Int.max)
    return start..<(overflows ? Int.max : end)
  }

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
      // Rows are not lent, only passed, so that the marks are there when the rows are wanted.
      let end = try walk(reader, from: Int.max, to: window.upperBound, filling: []) { _, _ in }
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
        let selected = SelectedFields(selection, copying: reader.lendsCopies)
        reached = try walk(reader, from: start, to: stop, filling: selection) { walk, _ in
          try selected.lend(walk.row, body)
        }
      } else {
        reached = try walk(reader, from: start, to: stop, filling: nil) { walk, record in
          try walk.lend(record, body)
        }
      }
      return max(0, reached - start)
    }
  }

  /// Walks from the nearest mark, and hands out the rows from one number up to another.
  ///
  /// - Returns: The number of the row that was not reached any more.
  private func walk(
    _ reader: any ByteReader, from start: Int, to end: Int, filling wanted: [Int]?,
    _ body: (RowCursor, ByteEntry) throws -> Void
  ) throws -> Int {
    guard let mark = nearest(to: start == Int.max ? end : start) else {
      return state.withLock { $0.total ?? 0 }
    }
    let walk = try RowCursor(query, reader, from: mark.place, filling: wanted)
    defer { walk.end() }
    var row = mark.row
    var marked = state.withLock { $0.marks.count }
    while row < end, let record = try walk.next() {
      if row % Self.interval == 0, row / Self.interval == marked {
        keep(walk.place, at: marked)
        marked += 1
      }
      if row >= start { try body(walk, record) }
      row += 1
    }
    finish(row, isAtEnd: row < end, walk)
    return row
  }

  /// The last known place that is not after a row; nil where the row lies beyond the known end.
  private func nearest(to row: Int) -> Mark? {
    state.withLock { state in
      if let total = state.total, row >= total, row != Int.max { return nil }
      var best = Mark(row: 0, place: Bookmark())
      if !state.marks.isEmpty {
        let number = min(row / Self.interval, state.marks.count - 1)
        best = Mark(row: number * Self.interval, place: state.marks[number])
      }
      for end in state.ends where end.row <= row && end.row > best.row { best = end }
      return best
    }
  }

  private func keep(_ place: Bookmark, at number: Int) {
    state.withLock { if $0.marks.count == number { $0.marks.append(place) } }
  }

  private func finish(_ row: Int, isAtEnd: Bool, _ walk: RowCursor) {
    // The place of the last row that was met, which is met again when the next page is read.
    let last = walk.entry == nil ? nil : Mark(row: row - 1, place: walk.place)
    state.withLock { state in
      if isAtEnd { state.total = row }
      guard let last else { return }
      if state.ends.count >= Self.endsLimit { state.ends.removeFirst() }
      state.ends.append(last)
    }
  }
}
