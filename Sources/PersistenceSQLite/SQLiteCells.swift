import CSQLite
import Foundation
import PersistenceDriver

/// NaN as SQLite keeps it: the blob `x'4E614E'`, which reads `NaN`.
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

/// A value in SQLite's hands: a column of the row that a statement stands on, or an argument of a function.
///
/// A column's value is read through `sqlite3_column_value`, which SQLite allows where its own locks are off, as
/// they are on every connection here (https://sqlite.org/c3ref/value.html), and which costs least.
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

  /// The bytes of a text.
  @inline(__always) var text: UnsafeRawBufferPointer {
    let start = UnsafeRawPointer(sqlite3_value_text(value))
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
  }

  /// The bytes of a blob, which has an address even where it is empty.
  @inline(__always) var blob: UnsafeRawBufferPointer {
    guard let start = sqlite3_value_blob(value) else {
      return UnsafeRawBufferPointer(start: SQLiteNaN.bytes, count: 0)
    }
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
  }
}

/// How the cells of one field are read, and what they may hold.
struct SQLiteCellReader: Sendable, Hashable {
  let tag: RowCell.Tag
  let isOptional: Bool
  /// Whether text may be no UTF-8: what other programs wrote is looked at, what this library did costs nothing.
  let checksText: Bool

  init(_ kind: FieldKind, isOptional: Bool, checksText: Bool) {
    tag = kind.tag
    self.isOptional = isOptional
    self.checksText = checksText
  }

  /// The same for a value that is nil where there are no rows, such as the least of none.
  var orNull: SQLiteCellReader { SQLiteCellReader(tag, checksText: checksText) }

  private init(_ tag: RowCell.Tag, checksText: Bool) {
    self.tag = tag
    isOptional = true
    self.checksText = checksText
  }

  /// The cell, pointing into SQLite's memory; nil where what is stored is not of the field's kind.
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

  /// The bytes of a text; nil where it is none, or no UTF-8, as other programs may leave it.
  ///
  /// Repaired it would be another text: another key, another place in the order, and lost where the record is written
  /// back.
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
      // Other programs write whole numbers so; one that a double cannot hold is not rounded silently.
      let number = Double(source.integer)
      return Int64(exactly: number) == source.integer ? number : nil
    }
    guard type == SQLITE_BLOB else { return nil }
    let blob = source.blob
    return SQLiteNaN.isNaN(blob.baseAddress, Int32(clamping: blob.count)) ? .nan : nil
  }
}
