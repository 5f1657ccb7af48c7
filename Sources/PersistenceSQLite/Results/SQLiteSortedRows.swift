import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// The row IDs of a sorted result, in its order; the primary keys where the table has no row IDs.
struct SQLiteSortedRowIDs {
  private var rowIDs: [Int64] = []
  private var keys: SQLiteSortedKeys?

  /// Whether these are all rows of the result.
  private(set) var isComplete = false

  var count: Int { keys?.count ?? rowIDs.count }

  /// Has SQLite sort the rows, and keeps their IDs; `isAll` means that there are no rows beyond the limit.
  mutating func load(
    _ query: SQLQuery, _ connection: SQLiteConnection, _ model: SQLiteModel, offset: Int, limit: Int?,
    isAll: Bool
  ) throws {
    let statement = query.select(.rowIDs, limit: limit, offset: offset)
    if model.table.rowID != nil {
      var rowIDs: [Int64] = []
      try connection.withStatement(statement, of: model) { prepared in
        while try prepared.step() { rowIDs.append(prepared.integer(0)) }
      }
      self.rowIDs = rowIDs
    } else {
      keys = try connection.withStatement(statement, of: model) { try SQLiteSortedKeys($0, of: model) }
    }
    isComplete = isAll || count < (limit ?? Int.max)
  }

  /// Looks up a range of rows by their IDs.
  func read(
    _ columns: SQLiteColumns, _ connection: SQLiteConnection, _ model: SQLiteModel, from offset: Int,
    _ wanted: Int, _ body: (borrowing Row) throws -> Void
  ) throws -> Int {
    let end = min(count, offset + min(wanted, count))
    guard offset < end else { return 0 }
    let key = StatementKey(.rowByID, model: model.number, items: columns.items)
    return try connection.withStatement(key, of: model) { statement in
      for position in offset..<end {
        try bind(position, to: statement)
        guard try statement.step() else {
          throw PersistenceError.damaged("a record of \(model.schema.name) that was found cannot be read")
            .at(model: model.schema.name, location: connection.store.location)
        }
        try statement.withRow(columns, body)
        statement.reset()
      }
      return end - offset
    }
  }

  /// Binds the ID of a row, or the columns of its key.
  private func bind(_ position: Int, to statement: SQLiteStatement) throws {
    guard let keys else { return try statement.bind(.integer(rowIDs[position]), at: 1) }
    try keys.bind(position, to: statement)
  }
}

/// The primary keys of a sorted result, side by side in memory.
private final class SQLiteSortedKeys {
  @exclusivity(unchecked) private var keys: RowArena

  /// Keeps the keys that a statement yields.
  init(_ statement: SQLiteStatement, of model: SQLiteModel) throws {
    let columns = SQLiteColumns(model.table.key, and: [], of: model.cells)
    keys = RowArena(width: columns.selectedCount, chunkSize: 16 << 10)
    let cells = SQLiteStatement.makeCells(columns.selectedCount)
    defer { cells.deallocate() }
    while try statement.step() {
      try statement.fill(cells, columns)
      let row = Row(cells: UnsafeBufferPointer(cells))
      keys.append(row, byteCount: RowArena.byteCount(of: row))
    }
  }

  var count: Int { keys.count }

  /// Binds the columns of a key, whose texts SQLite reads in place.
  func bind(_ position: Int, to statement: SQLiteStatement) throws {
    for column in 0..<keys.width {
      try statement.bind(cell: keys[position, column], at: Int32(truncatingIfNeeded: column + 1))
    }
  }
}

/// Copies of the rows of a small result whose order no index yields, sorted here.
///
/// One scan reads them. SQLite would carry whole rows through its sort, or look up the sorted rows one by one.
final class SQLiteBufferedRows {
  /// How many bytes to buffer at most; SQLite sorts larger results, of which only the row IDs are kept.
  static let byteLimit = 2 << 20

  /// A row's number in the arena, and a number that orders rows like a prefix of their first criterion's value.
  private struct SortEntry {
    var prefix: UInt64
    var row: Int32
  }

  private let columns: SQLiteColumns
  private let order: RowOrder
  /// The column of each criterion's field.
  private let orderColumns: [Int]
  @exclusivity(unchecked) private var rows: RowArena
  private var bytes = 0
  private var entries: [SortEntry] = []

  init(_ columns: SQLiteColumns, in order: RowOrder, at orderColumns: [Int]) {
    self.columns = columns
    self.order = order
    self.orderColumns = orderColumns
    rows = RowArena(width: columns.readers.count, chunkSize: 64 << 10)
  }

  var count: Int { entries.count }

  /// Copies a statement's current row; false once the rows exceed ``byteLimit``.
  func append(_ cells: UnsafeMutableBufferPointer<RowCell>) -> Bool {
    let row = Row(cells: UnsafeBufferPointer(cells))
    let byteCount = RowArena.byteCount(of: row)
    let prefix = orderColumns.isEmpty ? 0 : cells[orderColumns[0]].orderPrefix
    entries.append(
      SortEntry(
        prefix: order.criteria.first?.isDescending == true ? ~prefix : prefix,
        row: Int32(truncatingIfNeeded: rows.count)))
    rows.append(row, byteCount: byteCount)
    bytes += byteCount + cells.count * MemoryLayout<RowCell>.stride
    return bytes <= Self.byteLimit
  }

  /// Sorts the rows and drops those outside the page.
  func sort(offset: Int, limit: Int?) {
    entries.sort { left, right in
      left.prefix != right.prefix ? left.prefix < right.prefix : precedes(left.row, right.row)
    }
    if offset > 0 { entries.removeFirst(min(offset, entries.count)) }
    if let limit, limit < entries.count { entries.removeLast(entries.count - limit) }
  }

  /// Calls a closure with each row of a range.
  func read(from offset: Int, _ wanted: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    let end = min(count, offset + min(wanted, count))
    guard offset < end else { return 0 }
    for entry in entries[offset..<end] {
      try rows.withRow(Int(entry.row), width: columns.selectedCount, body)
    }
    return end - offset
  }

  private func precedes(_ left: Int32, _ right: Int32) -> Bool {
    for (criterion, column) in zip(order.criteria, orderColumns) {
      let order = RowCell.compare(rows[Int(left), column], rows[Int(right), column])
      if order != 0 { return criterion.isDescending ? order > 0 : order < 0 }
    }
    return false
  }
}

extension RowCell {
  /// A number for each value: if one value precedes another, its number is less or equal (contract O3, V3 to V4a).
  fileprivate var orderPrefix: UInt64 {
    let prefix: UInt64
    switch tag {
    case .null: return 0
    case .bool, .integer: prefix = UInt64(bitPattern: integerValue) ^ 1 << 63
    case .double, .date: prefix = TotalOrder.key(doubleValue)
    case .text, .bytes: prefix = Self.firstBytes(borrowedBytes)
    case .uuid: prefix = withUnsafeBytes(of: uuidValue.uuid) { Self.firstBytes($0) }
    case .decimal, .document: prefix = 0
    }
    // nil precedes every value, so the lower half of the numbers is left to it.
    return prefix >> 1 | 1 << 63
  }

  /// The first eight bytes as a big-endian number.
  private static func firstBytes(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    if bytes.count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
    var number: UInt64 = 0
    for index in 0..<8 { number = number << 8 | (index < bytes.count ? UInt64(bytes[index]) : 0) }
    return number
  }
}
