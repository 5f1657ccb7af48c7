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
      // The initializer of `UUID` is not inlined and takes a hundred instructions; a cell holds the same bytes.
      return RowCell(
        tag: .uuid, bits: blob.loadUnaligned(as: UInt64.self),
        extra: blob.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
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

extension SQLiteStatement {
  /// Binds the parameters of a lowered request.
  func bind(_ statement: SQLStatement) throws {
    var index: Int32 = 1
    try statement.forEachBinding { binding in
      switch binding {
      case .value(let value): try bind(value, at: index)
      case .count(let count): try check(sqlite3_bind_int64(handle, index, count))
      case .list(let values):
        try bind(SQLiteArrayParameter(values), SQLiteArrayParameter.pointerType, at: index)
      case .search(let matcher): try bind(SQLiteSearch(matcher), SQLiteSearch.pointerType, at: index)
      case .condition(let condition, let positions):
        let bound = SQLiteCondition(condition, positions: positions, cells: model?.cells ?? [])
        try bind(bound, SQLiteCondition.pointerType, at: index)
      }
      index += 1
    }
  }

  func bind(_ key: RecordKey) throws {
    var index: Int32 = 1
    for value in key.values {
      try bind(value, at: index)
      index += 1
    }
  }

  /// Binds an object, which the statement retains, for the package's own functions.
  func bind(_ object: AnyObject, _ type: UnsafePointer<CChar>, at index: Int32) throws {
    holdsObjects = true
    try check(
      sqlite3_bind_pointer(handle, index, Unmanaged.passRetained(object).toOpaque(), type) { pointer in
        if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
      })
  }

  /// Binds a value in its column's format; SQLite copies its bytes.
  func bind(_ value: PersistentValue, at index: Int32) throws {
    switch value {
    case .null: try check(sqlite3_bind_null(handle, index))
    case .bool(let value): try check(sqlite3_bind_int64(handle, index, value ? 1 : 0))
    case .integer(let value): try check(sqlite3_bind_int64(handle, index, value))
    case .double(let value), .date(let value): try bind(TotalOrder.normalized(value), at: index)
    case .text(let value), .document(let value): try bind(value, at: index)
    case .decimal(let value): try bind(value.canonicalText, at: index)
    case .bytes(let value):
      try value.withUnsafeBytes { try bind(blob: $0, at: index, persistence_sqlite3_transient()) }
    case .uuid(let value):
      try withUnsafeBytes(of: value.uuid) {
        try bind(blob: $0, at: index, persistence_sqlite3_transient())
      }
    }
  }

  /// Binds a cell in its column's format; SQLite does not copy its bytes, which must stay valid until the step is done.
  @inline(__always)
  func bind(cell: RowCell, at index: Int32) throws {
    switch cell.tag {
    case .null: try check(sqlite3_bind_null(handle, index))
    case .bool, .integer: try check(sqlite3_bind_int64(handle, index, cell.integerValue))
    case .double, .date: try bind(cell.doubleValue, at: index)
    case .text, .document, .decimal: try bind(text: cell.borrowedBytes, at: index, nil)
    case .bytes: try bind(blob: cell.borrowedBytes, at: index, nil)
    case .uuid:
      // A cell holds a UUID by value, so the statement provides memory that outlives the call.
      let uuid = uuids() + Int(index - 1)
      uuid.pointee = cell.uuidValue.uuid
      try check(sqlite3_bind_blob64(handle, index, uuid, 16, nil))
    }
  }

  /// Memory for one UUID for each parameter.
  private func uuids() -> UnsafeMutablePointer<uuid_t> {
    if let boundUUIDs { return boundUUIDs }
    let made = UnsafeMutablePointer<uuid_t>.allocate(
      capacity: Int(sqlite3_bind_parameter_count(handle)) + 1)
    boundUUIDs = made
    return made
  }

  private func bind(_ number: Double, at index: Int32) throws {
    guard number.isNaN else { return try check(sqlite3_bind_double(handle, index, number)) }
    // SQLite would store NaN as NULL. The blob sorts after every number and equals itself.
    try check(sqlite3_bind_blob64(handle, index, SQLiteNaN.bytes, UInt64(SQLiteNaN.count), nil))
  }

  private func bind(_ text: String, at index: Int32) throws {
    var text = text
    try text.withUTF8 {
      try bind(text: UnsafeRawBufferPointer($0), at: index, persistence_sqlite3_transient())
    }
  }

  private func bind(
    text: UnsafeRawBufferPointer, at index: Int32, _ destructor: sqlite3_destructor_type?
  ) throws {
    // SQLite takes a nil address for NULL.
    let start = text.baseAddress ?? UnsafeRawPointer(SQLiteNaN.bytes)
    try check(
      sqlite3_bind_text64(
        handle, index, start.assumingMemoryBound(to: CChar.self), UInt64(text.count), destructor,
        UInt8(SQLITE_UTF8)))
  }

  private func bind(
    blob: UnsafeRawBufferPointer, at index: Int32, _ destructor: sqlite3_destructor_type?
  ) throws {
    let start = blob.baseAddress ?? UnsafeRawPointer(SQLiteNaN.bytes)
    try check(sqlite3_bind_blob64(handle, index, start, UInt64(blob.count), destructor))
  }

  @inline(__always)
  private func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw connection.error(code, "bind a value") }
  }
}
