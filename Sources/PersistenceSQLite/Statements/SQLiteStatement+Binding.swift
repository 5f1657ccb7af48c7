import CSQLite
import Foundation
import PersistenceDriver
import PersistenceSQL

extension SQLiteStatement {
  /// Binds the parameters of a lowered request.
  func bind(_ bindings: [SQLBinding]) throws {
    var index: Int32 = 1
    for binding in bindings {
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
