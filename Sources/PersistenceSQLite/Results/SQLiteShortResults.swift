package import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// The rows of a request with a small limit, copied when it is fetched.
///
/// They need no transaction that lives as long as the results, so SQLite runs one statement instead of four. To begin and
/// end such a transaction takes longer than to copy some ten rows.
final class SQLiteShortResults: StorageResults, @unchecked Sendable {  // filled before others get it
  /// The largest limit of a request whose rows are copied.
  static let rowLimit = 32
  /// How many bytes of texts and blobs to copy at most.
  private static let byteLimit = 64 << 10
  /// The room for the bytes of an average row, beside its cells.
  private static let bytesPerRow = 192

  let usesRandomAccess = false
  private let width: Int
  private let capacity: Int
  private var rowCount = 0
  /// The cells of all rows; the room for the first bytes follows them in the same memory.
  private let cells: UnsafeMutablePointer<RowCell>
  private let memory: UnsafeMutableRawPointer
  private var next: UnsafeMutableRawPointer
  private var free: Int
  private var bytesLeft = SQLiteShortResults.byteLimit
  /// The memory of bytes beyond that room.
  private var chunks: [UnsafeMutableRawPointer] = []

  /// Creates results without rows.
  fileprivate init(width: Int, limit: Int) {
    let (size, room) = (width * limit * MemoryLayout<RowCell>.stride, limit * Self.bytesPerRow)
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: size + room, alignment: MemoryLayout<RowCell>.alignment)
    (self.width, capacity) = (width, limit)
    cells = memory.bindMemory(to: RowCell.self, capacity: width * limit)
    self.memory = memory
    (next, free) = (memory + size, room)
  }

  deinit {
    memory.deallocate()
    for chunk in chunks { chunk.deallocate() }
  }

  /// Copies the current row of a statement.
  ///
  /// - Returns: Whether the row is complete: not damaged, not too large, and within the limit.
  fileprivate func append(_ statement: SQLiteStatement, _ columns: SQLiteColumns) -> Bool {
    guard rowCount < capacity else { return false }
    let row = UnsafeMutableBufferPointer(start: cells + rowCount * width, count: width)
    guard statement.firstMismatch(row, columns) == nil else { return false }
    for column in 0..<width {
      let cell = row[column]
      switch cell.tag {
      case .null, .bool, .integer, .double, .date, .uuid: continue
      case .text, .bytes, .decimal, .document:
        let bytes = cell.borrowedBytes
        guard let kept = keep(bytes) else {
          statement.largeLimit = min(statement.largeLimit, rowCount + 1)
          return false
        }
        row[column] = RowCell(tag: cell.tag, bits: UInt64(bytes.count), pointer: kept)
      }
    }
    rowCount += 1
    return true
  }

  /// Copies bytes, and returns the address, which there is also for none; nil where they exceed the limit.
  private func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    let count = bytes.count
    guard count <= bytesLeft else { return nil }
    bytesLeft -= count
    if count > free {
      let size = max(4096, count)
      next = .allocate(byteCount: size, alignment: 1)
      free = size
      chunks.append(next)
    }
    let start = next
    if let source = bytes.baseAddress { start.copyMemory(from: source, byteCount: count) }
    next = start + count
    free -= count
    return UnsafeRawPointer(start)
  }

  func count() -> Int { rowCount }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    guard offset >= 0, limit > 0, offset < rowCount else { return 0 }
    let end = offset + min(limit, rowCount - offset)
    for position in offset..<end {
      let row = UnsafeBufferPointer(start: UnsafePointer(cells + position * width), count: width)
      try body(Row(cells: row))
    }
    return end - offset
  }
}

extension SQLiteContext {
  /// Copies of the rows of a request with a small limit; nil if the rows must be read in a transaction.
  ///
  /// A transaction reads what is large or damaged.
  func shortResults(of request: FetchRequest) throws -> SQLiteShortResults? {
    guard let limit = request.limit, limit <= SQLiteShortResults.rowLimit else { return nil }
    return try withFirstStep(of: request) { statement, model, isAtRow in
      if limit >= statement.largeLimit { return nil }
      guard var hasRow = try isAtRow() else { return nil }
      let results = SQLiteShortResults(width: model.columns.readers.count, limit: limit)
      while hasRow {
        guard results.append(statement, model.columns) else { return nil }
        hasRow = try statement.step()
      }
      return results
    }
  }

  /// Passes on the rows of a request with a limit, by a statement that is prepared.
  package func readOnce(_ request: FetchRequest, _ body: (borrowing Row) throws -> Void) throws -> Int? {
    try withFirstStep(of: request) { statement, model, isAtRow in
      guard var hasRow = try isAtRow() else { return nil }
      let columns = model.columns
      var count = 0
      while hasRow {
        try statement.withRow(columns, body)
        count += 1
        hasRow = try statement.step()
      }
      return count
    }
  }

  /// Calls a closure with the prepared statement of a request and its first step; nil if the closure returns nil, or a
  /// transaction must read the rows.
  ///
  /// One statement outside of transactions shows one moment, and takes the place of the four of a transaction.
  private func withFirstStep<Result>(
    of request: FetchRequest, _ body: (SQLiteStatement, SQLiteModel, () throws -> Bool?) throws -> Result?
  ) throws -> Result? {
    guard let limit = request.limit, limit > 0, request.offset == 0, request.after == nil,
      !request.isPlannedAnew, !ObserversLock.isHeld
    else { return nil }
    let connection = try pool.take()
    defer { pool.giveBack(connection) }
    guard let model = connection.knownModel(for: request.schema) else { return nil }
    let predicate = try LoweredPredicate(request.predicate, in: request.schema, SQLiteDialect())
    let order = try connection.order(of: request, in: model)
    let wanted = SQLQuery(predicate, order: order, model: model.number).select(.rows, limit: limit)
    guard let statement = connection.cachedStatement(wanted) else { return nil }
    defer { statement.finish() }
    return try body(statement, model) {
      try statement.bind(wanted)
      return try statement.firstStep()
    }
  }
}
