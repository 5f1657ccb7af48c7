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
    guard let limit = request.limit, limit <= SQLiteShortResults.rowLimit, Self.takesOneStatement(request)
    else { return nil }
    return try pool.withConnection { connection in
      try connection.withFirstStep(of: request) { statement, model, isAtRow -> SQLiteShortResults? in
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
  }

  /// Passes on the rows of a request with a limit, which one statement reads, of a table that this package has made.
  ///
  /// A view or a virtual table of another program may take long for each row, so a caller would not know how long it waits.
  package func readOnce(_ request: FetchRequest, _ body: (borrowing Row) throws -> Void) throws -> Int? {
    guard Self.takesOneStatement(request) else { return nil }
    return try pool.withConnection { connection -> Int? in
      if connection.knownModel(for: request.schema)?.table.isForeign == true { return nil }
      let count = try connection.withFirstStep(of: request) { statement, model, isAtRow -> Int? in
        guard let hasRow = try isAtRow() else { return nil }
        return try hasRow ? statement.passOn(model.columns, body) : 0
      }
      if let count { return count }
      return try connection.withReadTransaction { try connection.passOn(request, body) }
    }
  }

  /// Whether one statement reads the rows of a request, and the thread may wait for it.
  private static func takesOneStatement(_ request: FetchRequest) -> Bool {
    request.limit ?? 0 > 0 && request.offset == 0 && request.after == nil && !request.isPlannedAnew
      && !ObserversLock.isHeld
  }
}

extension SQLiteStatement {
  /// Passes on the current row and those after it; returns their number.
  fileprivate func passOn(_ columns: SQLiteColumns, _ body: (borrowing Row) throws -> Void) throws -> Int {
    var count = 0
    repeat {
      try withRow(columns, body)
      count += 1
    } while try step()
    return count
  }
}

extension SQLiteConnection {
  /// Passes on the rows of a request in the open transaction, and prepares the statement; returns their number, nil for a
  /// table of another program.
  fileprivate func passOn(_ request: FetchRequest, _ body: (borrowing Row) throws -> Void) throws -> Int? {
    guard let model = try model(for: request.schema) else { return 0 }
    if model.table.isForeign { return nil }
    let wanted = try rows(of: request, in: model)
    return try withStatement(wanted, of: model) { try $0.step() ? $0.passOn(model.columns, body) : 0 }
  }

  /// The statement that yields the rows of a request.
  fileprivate func rows(of request: FetchRequest, in model: SQLiteModel) throws -> SQLStatement {
    let predicate = try LoweredPredicate(request.predicate, in: request.schema, SQLiteDialect())
    let order = try order(of: request, in: model)
    return SQLQuery(predicate, order: order, model: model.number).select(.rows, limit: request.limit)
  }

  /// Calls a closure with the statement of a request, if it is prepared, and its first step; nil if the closure returns
  /// nil, or a transaction must read the rows.
  ///
  /// One statement outside of transactions shows one moment, and takes the place of the four of a transaction.
  fileprivate func withFirstStep<Result>(
    of request: FetchRequest, _ body: (SQLiteStatement, SQLiteModel, () throws -> Bool?) throws -> Result?
  ) throws -> Result? {
    guard let model = knownModel(for: request.schema) else { return nil }
    let wanted = try rows(of: request, in: model)
    guard let statement = cachedStatement(wanted) else { return nil }
    defer { statement.finish() }
    return try body(statement, model) {
      try statement.bind(wanted)
      return try statement.firstStep()
    }
  }
}
