import Foundation
import PersistenceDriver
import PersistenceDriverSupport

/// The rows of a small result in an order that no index yields: read in one walk, kept, and sorted here.
///
/// SQLite would carry whole rows through its sort, or the sorted rows would have to be looked up one by one. What is
/// kept is bounded in bytes: a result that is larger is sorted by SQLite, and only its rows' numbers are kept.
final class SQLiteBufferedRows {
  /// How many bytes are kept at most.
  static let byteLimit = 2 << 20

  /// A row's number, and the beginning of its first criterion's value as a number of the same order.
  private struct Place {
    var prefix: UInt64
    var row: Int32
  }

  private let columns: SQLiteColumns
  private let order: RowOrder
  /// The columns in which the order's fields stand.
  private let orderColumns: [Int]

  /// The cells of all rows, one row after the other, and room for more.
  private var cells: UnsafeMutableBufferPointer<RowCell>
  private var chunks: [UnsafeMutableRawBufferPointer] = []
  private var used = 0
  private var bytes = 0
  private var places: [Place] = []

  init(_ columns: SQLiteColumns, in order: RowOrder, at orderColumns: [Int]) {
    self.columns = columns
    self.order = order
    self.orderColumns = orderColumns
    cells = .allocate(capacity: 64 * columns.readers.count)
  }

  deinit {
    cells.deallocate()
    for chunk in chunks { chunk.deallocate() }
  }

  /// How many rows there are.
  var count: Int { places.count }

  /// Keeps the row that a statement stands on; false where that is too much.
  func append(_ row: UnsafeMutableBufferPointer<RowCell>) -> Bool {
    let (width, start) = (row.count, places.count * row.count)
    if start + width > cells.count { grow() }
    for column in 0..<width { cells[start + column] = copy(row[column]) }
    bytes += width * MemoryLayout<RowCell>.stride
    let first = orderColumns.isEmpty ? .null : cells[start + orderColumns[0]]
    let prefix = first.orderPrefix
    places.append(
      Place(
        prefix: order.criteria.first?.isDescending == true ? ~prefix : prefix,
        row: Int32(truncatingIfNeeded: places.count)))
    return bytes <= Self.byteLimit
  }

  /// Sorts the rows, and leaves those of a page.
  func sort(offset: Int, limit: Int?) {
    places.sort { left, right in
      left.prefix != right.prefix ? left.prefix < right.prefix : comesBefore(left.row, right.row)
    }
    if offset > 0 { places.removeFirst(min(offset, places.count)) }
    if let limit, limit < places.count { places.removeLast(places.count - limit) }
  }

  /// Lends rows.
  func read(from offset: Int, _ wanted: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    let end = min(count, offset + min(wanted, count))
    guard offset < end else { return 0 }
    for place in places[offset..<end] {
      try body(
        Row(cells: UnsafeBufferPointer(start: start(of: place.row), count: columns.lent)))
    }
    return end - offset
  }

  private func start(of row: Int32) -> UnsafePointer<RowCell>? {
    cells.baseAddress.map { UnsafePointer($0 + Int(row) * columns.readers.count) }
  }

  private func comesBefore(_ left: Int32, _ right: Int32) -> Bool {
    let width = columns.readers.count
    let (first, second) = (Int(left) * width, Int(right) * width)
    for (criterion, column) in zip(order.criteria, orderColumns) {
      let order = RowCell.compare(cells[first + column], cells[second + column])
      if order != 0 { return criterion.isDescending ? order > 0 : order < 0 }
    }
    return false
  }

  private func grow() {
    let larger = UnsafeMutableBufferPointer<RowCell>.allocate(capacity: cells.count * 2)
    _ = larger.initialize(from: cells[..<(places.count * columns.readers.count)])
    cells.deallocate()
    cells = larger
  }

  /// The cell with its bytes in memory of our own.
  private func copy(_ cell: RowCell) -> RowCell {
    switch cell.tag {
    case .text: .text(copy(cell.borrowedBytes))
    case .bytes: .bytes(copy(cell.borrowedBytes))
    case .decimal: .decimal(copy(cell.borrowedBytes))
    case .document: .document(copy(cell.borrowedBytes))
    default: cell
    }
  }

  private func copy(_ source: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    // An empty run still needs an address, which tells it from nil.
    if chunks.last.map({ $0.count - used <= source.count }) ?? true {
      chunks.append(.allocate(byteCount: max(64 << 10, source.count + 1), alignment: 1))
      used = 0
    }
    let target = UnsafeMutableRawBufferPointer(rebasing: chunks[chunks.count - 1][used..<used + source.count])
    target.copyMemory(from: source)
    used += source.count
    bytes += source.count
    return UnsafeRawBufferPointer(target)
  }
}

extension RowCell {
  /// A number whose order is that of the values as far as it goes: a value that comes before another has a lesser one
  /// or an equal one (contract O3, V3 to V4a).
  fileprivate var orderPrefix: UInt64 {
    let prefix: UInt64
    switch tag {
    case .null: return 0
    case .bool, .integer: prefix = UInt64(bitPattern: integerValue) ^ 1 << 63
    case .double, .date: prefix = TotalOrder.key(doubleValue)
    case .text, .bytes: prefix = Self.beginning(borrowedBytes)
    case .uuid: prefix = withUnsafeBytes(of: uuidValue.uuid) { Self.beginning($0) }
    case .decimal, .document: prefix = 0
    }
    // Half the numbers are left to nil, which comes before every value.
    return prefix >> 1 | 1 << 63
  }

  /// The first eight bytes, as a number of their order.
  private static func beginning(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    if bytes.count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
    var number: UInt64 = 0
    for index in 0..<8 { number = number << 8 | (index < bytes.count ? UInt64(bytes[index]) : 0) }
    return number
  }
}
