import CSQLite
import Foundation
import PersistenceDriver
import PersistenceSQL

/// NaN as stored in SQLite: the blob `x'4E614E'`, which is `NaN` in ASCII.
enum SQLiteNaN {
  static let count = 3
  nonisolated(unsafe) static let bytes: UnsafePointer<UInt8> = {  // written once, never freed
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 4)
    bytes.update(from: [0x4E, 0x61, 0x4E, 0], count: 4)
    return UnsafePointer(bytes)
  }()

  static func isNaN(_ bytes: UnsafeRawPointer?, _ count: Int32) -> Bool {
    guard count == 3, let bytes else { return false }
    return memcmp(bytes, self.bytes, 3) == 0
  }
}

/// A value owned by SQLite: a column of a statement's current row, or an argument of a function.
///
/// It reads a column through `sqlite3_column_value`, the cheapest way. SQLite allows that because all connections here
/// are open without SQLite's locks (https://sqlite.org/c3ref/value.html).
struct SQLiteValue {
  private let value: OpaquePointer?

  @inline(__always)
  init(_ value: OpaquePointer?) { self.value = value }

  @inline(__always)
  init(_ statement: OpaquePointer, column: Int) {
    value = sqlite3_column_value(statement, Int32(truncatingIfNeeded: column))
  }

  @inline(__always) var type: Int32 { sqlite3_value_type(value) }
  @inline(__always) var integer: Int64 { sqlite3_value_int64(value) }
  @inline(__always) var double: Double { sqlite3_value_double(value) }

  @inline(__always) var text: UnsafeRawBufferPointer {
    let start = UnsafeRawPointer(sqlite3_value_text(value))
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
  }

  /// The bytes of a blob, with an address even if it is empty.
  @inline(__always) var blob: UnsafeRawBufferPointer {
    guard let start = sqlite3_value_blob(value) else {
      return UnsafeRawBufferPointer(start: SQLiteNaN.bytes, count: 0)
    }
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
  }
}

/// Reads and checks the values of one field.
struct SQLiteCellReader: Sendable, Hashable {
  let tag: RowCell.Tag
  let isOptional: Bool
  /// Whether to check text for valid UTF-8: necessary for tables of other programs, not for this package's own.
  let checksText: Bool

  /// The reader for an aggregate, which is nil where there are no rows.
  var optional: SQLiteCellReader { SQLiteCellReader(tag: tag, isOptional: true, checksText: checksText) }

  /// The cell, which points into SQLite's memory; nil where the stored value is not of the field's kind.
  @inline(__always)
  func cell(_ source: SQLiteValue) -> RowCell? {
    let type = source.type
    if type == SQLITE_NULL { return isOptional ? .null : nil }
    switch tag {
    case .null: return nil
    case .integer: return type == SQLITE_INTEGER ? .integer(source.integer) : nil
    case .text: return text(source, type).map(RowCell.text)
    case .double: return number(source, type).map(RowCell.double)
    case .date: return number(source, type).map(RowCell.date)
    case .bool:
      guard type == SQLITE_INTEGER else { return nil }
      let integer = source.integer
      return integer == 0 || integer == 1 ? .bool(integer == 1) : nil
    case .bytes:
      guard type == SQLITE_BLOB else { return nil }
      return .bytes(source.blob)
    case .uuid:
      guard type == SQLITE_BLOB else { return nil }
      let blob = source.blob
      guard blob.count == 16 else { return nil }
      return .uuid(UUID(uuid: blob.loadUnaligned(as: uuid_t.self)))
    case .decimal: return text(source, type).map(RowCell.decimal)
    case .document: return text(source, type).map(RowCell.document)
    }
  }

  /// The bytes of a text; nil where the value is not text, or not valid UTF-8, as other programs may write.
  ///
  /// Repairing the text would change keys and orders, and lose the original once the record is written back.
  @inline(__always)
  private func text(_ source: SQLiteValue, _ type: Int32) -> UnsafeRawBufferPointer? {
    guard type == SQLITE_TEXT else { return nil }
    let text = source.text
    return !checksText || UTF8Text.isValid(text) ? text : nil
  }

  @inline(__always)
  private func number(_ source: SQLiteValue, _ type: Int32) -> Double? {
    if type == SQLITE_FLOAT { return source.double }
    if type == SQLITE_INTEGER {
      // Other programs store whole numbers as integers; one that a double cannot represent is not rounded.
      let number = Double(source.integer)
      return Int64(exactly: number) == source.integer ? number : nil
    }
    guard type == SQLITE_BLOB else { return nil }
    let blob = source.blob
    return SQLiteNaN.isNaN(blob.baseAddress, Int32(clamping: blob.count)) ? .nan : nil
  }
}

/// The columns of a statement's rows: their fields, and how to read them.
final class SQLiteColumns: @unchecked Sendable {  // immutable after init; `readers` is freed with it
  /// The position of each column's field.
  let positions: [Int]

  /// The columns as items of a statement key; empty for all fields.
  let items: [SQLItem]

  /// How many columns the caller's rows have; further ones are for this package's own use.
  let selectedCount: Int

  /// The reader of each column.
  let readers: UnsafeBufferPointer<SQLiteCellReader>

  /// All fields of a model.
  init(all cells: [SQLiteCellReader]) {
    positions = Array(cells.indices)
    items = []
    selectedCount = cells.count
    readers = Self.copy(cells)
  }

  /// Some fields of a model: those of the caller's rows, which may contain duplicates, and others, such as the order's.
  init(_ selected: [Int], and others: [Int], of cells: [SQLiteCellReader]) {
    positions = selected + others.filter { !selected.contains($0) }
    items = positions.map { SQLItem(.field, $0) }
    selectedCount = selected.count
    readers = Self.copy(positions.map { cells[$0] })
  }

  deinit { readers.deallocate() }

  /// The columns that hold fields.
  func columns(of fields: [Int]) -> [Int] { fields.compactMap { positions.firstIndex(of: $0) } }

  private static func copy(_ readers: [SQLiteCellReader]) -> UnsafeBufferPointer<SQLiteCellReader> {
    let copy = UnsafeMutableBufferPointer<SQLiteCellReader>.allocate(capacity: readers.count)
    _ = copy.initialize(from: readers)
    return UnsafeBufferPointer(copy)
  }
}

/// A check of text that other programs wrote.
enum UTF8Text {
  /// Whether bytes are valid UTF-8; ASCII, the common case, is checked eight bytes at a time.
  @inline(__always)
  static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool { isASCII(bytes) || isValidBeyondASCII(bytes) }

  @inline(__always)
  private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.count
    guard count >= 8 else { return isShortASCII(bytes) }
    // The last eight bytes may overlap those checked in the loop.
    var bits = bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
    var offset = 0
    while offset &+ 8 < count {
      bits |= bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset &+= 8
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }

  @inline(__always)
  private static func isShortASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.count
    if count >= 4 {
      let first = bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)
      let last = bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
      return (first | last) & 0x8080_8080 == 0
    }
    if count == 0 { return true }
    return (bytes[0] | bytes[count >> 1] | bytes[count &- 1]) < 0x80
  }

  /// Checks scalar by scalar (The Unicode Standard, table 3-7).
  @inline(never)
  private static func isValidBeyondASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.count
    var index = 0
    while index < count {
      let lead = bytes[index]
      if lead < 0x80 {
        index &+= 1
        continue
      }
      let (length, second): (Int, ClosedRange<UInt8>)
      switch lead {
      case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
      case 0xE0: (length, second) = (3, 0xA0...0xBF)
      case 0xED: (length, second) = (3, 0x80...0x9F)
      case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
      case 0xF0: (length, second) = (4, 0x90...0xBF)
      case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
      case 0xF4: (length, second) = (4, 0x80...0x8F)
      default: return false
      }
      guard length <= count &- index, second.contains(bytes[index &+ 1]),
        bytes[(index &+ 2)..<(index &+ length)].allSatisfy({ $0 & 0xC0 == 0x80 })
      else { return false }
      index &+= length
    }
    return true
  }
}
