import CSQLite
import Foundation
import PersistenceDriver

/// A list of values of any length as one parameter of a statement.
final class SQLiteArrayParameter {
  let values: [PersistentValue]

  init(_ values: [PersistentValue]) { self.values = values }
}

/// The table-valued function that yields the values of a list: `SELECT value FROM persistence_list(?1)`.
///
/// One parameter for each value would need a new text for every length, and SQLite limits their number. A JSON array
/// would truncate text at U+0000. The design follows SQLite's own `carray` (https://sqlite.org/carray.html).
enum SQLiteArrayModule {
  /// The module's functions, which all connections share.
  nonisolated(unsafe) static let module: UnsafePointer<sqlite3_module> = {  // written once, never freed
    let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
    module.initialize(to: sqlite3_module())
    module.pointee.xConnect = { database, _, _, _, table, _ in connect(database, table) }
    module.pointee.xDisconnect = { table in
      table?.deallocate()
      return SQLITE_OK
    }
    module.pointee.xBestIndex = { _, plan in choose(plan) }
    module.pointee.xOpen = { _, cursor in open(cursor) }
    module.pointee.xClose = { close($0) }
    module.pointee.xFilter = { cursor, _, _, count, arguments in filter(cursor, count, arguments) }
    module.pointee.xNext = { cursor in
      state(cursor)?.pointee.index += 1
      return SQLITE_OK
    }
    module.pointee.xEof = { cursor in
      guard let state = state(cursor), let list = state.pointee.list else { return 1 }
      return state.pointee.index < list.values.count ? 0 : 1
    }
    module.pointee.xColumn = { cursor, context, column in yield(cursor, context, column) }
    module.pointee.xRowid = { cursor, number in
      number?.pointee = sqlite3_int64(state(cursor)?.pointee.index ?? 0)
      return SQLITE_OK
    }
    return UnsafePointer(module)
  }()

  /// A cursor, which begins with SQLite's own part.
  private struct Cursor {
    var base = sqlite3_vtab_cursor()
    var list: SQLiteArrayParameter?
    var index = 0
  }

  private static func state(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?)
    -> UnsafeMutablePointer<Cursor>?
  {
    cursor.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: Cursor.self) }
  }

  private static func connect(
    _ database: OpaquePointer?, _ table: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?
  ) -> Int32 {
    let code = sqlite3_declare_vtab(database, "CREATE TABLE list(value, list HIDDEN)")
    guard code == SQLITE_OK else { return code }
    let made = UnsafeMutablePointer<sqlite3_vtab>.allocate(capacity: 1)
    made.initialize(to: sqlite3_vtab())
    table?.pointee = made
    return SQLITE_OK
  }

  private static func choose(_ plan: UnsafeMutablePointer<sqlite3_index_info>?) -> Int32 {
    guard let plan else { return SQLITE_ERROR }
    for number in 0..<Int(plan.pointee.nConstraint) {
      let constraint = plan.pointee.aConstraint[number]
      guard constraint.iColumn == 1, Int32(constraint.op) == SQLITE_INDEX_CONSTRAINT_EQ,
        constraint.usable != 0
      else { continue }
      plan.pointee.aConstraintUsage[number].argvIndex = 1
      plan.pointee.aConstraintUsage[number].omit = 1
      plan.pointee.estimatedCost = 1
      plan.pointee.estimatedRows = 20
      return SQLITE_OK
    }
    return SQLITE_CONSTRAINT
  }

  private static func open(
    _ cursor: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
  ) -> Int32 {
    let made = UnsafeMutablePointer<Cursor>.allocate(capacity: 1)
    made.initialize(to: Cursor())
    cursor?.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
    return SQLITE_OK
  }

  private static func close(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
    guard let state = state(cursor) else { return SQLITE_OK }
    state.deinitialize(count: 1)
    state.deallocate()
    return SQLITE_OK
  }

  private static func filter(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ count: Int32,
    _ arguments: UnsafeMutablePointer<OpaquePointer?>?
  ) -> Int32 {
    guard let state = state(cursor) else { return SQLITE_ERROR }
    state.pointee.index = 0
    state.pointee.list = nil
    if count > 0, let pointer = sqlite3_value_pointer(arguments?[0], SQLiteArrayParameter.pointerType) {
      state.pointee.list = Unmanaged<SQLiteArrayParameter>.fromOpaque(pointer).takeUnretainedValue()
    }
    return SQLITE_OK
  }

  private static func yield(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ context: OpaquePointer?, _ column: Int32
  ) -> Int32 {
    guard column == 0, let state = state(cursor), let list = state.pointee.list,
      list.values.indices.contains(state.pointee.index)
    else {
      sqlite3_result_null(context)
      return SQLITE_OK
    }
    result(list.values[state.pointee.index], context)
    return SQLITE_OK
  }

  /// Returns a value from a function, in its column's format.
  static func result(_ value: PersistentValue, _ context: OpaquePointer?) {
    switch value {
    case .null: sqlite3_result_null(context)
    case .bool(let value): sqlite3_result_int64(context, value ? 1 : 0)
    case .integer(let value): sqlite3_result_int64(context, value)
    case .double(let value), .date(let value):
      let number = TotalOrder.normalized(value)
      guard number.isNaN else { return sqlite3_result_double(context, number) }
      sqlite3_result_blob64(context, SQLiteNaN.bytes, UInt64(SQLiteNaN.count), nil)
    case .text(let value), .document(let value): result(value, context)
    case .decimal(let value): result(value.canonicalText, context)
    case .bytes(let value): value.withUnsafeBytes { result($0, context) }
    case .uuid(let value): withUnsafeBytes(of: value.uuid) { result($0, context) }
    }
  }

  /// The same for a borrowed value.
  static func result(_ cell: RowCell, _ context: OpaquePointer?) {
    switch cell.tag {
    case .null: sqlite3_result_null(context)
    case .bool, .integer: sqlite3_result_int64(context, cell.integerValue)
    case .double, .date:
      let number = cell.doubleValue
      guard number.isNaN else { return sqlite3_result_double(context, number) }
      sqlite3_result_blob64(context, SQLiteNaN.bytes, UInt64(SQLiteNaN.count), nil)
    case .text, .document, .decimal: resultText(cell.borrowedBytes, context)
    case .bytes: result(cell.borrowedBytes, context)
    case .uuid: withUnsafeBytes(of: cell.uuidValue) { result($0, context) }
    }
  }

  static func result(_ text: String, _ context: OpaquePointer?) {
    var text = text
    text.withUTF8 { resultText(UnsafeRawBufferPointer($0), context) }
  }

  private static func resultText(_ utf8: UnsafeRawBufferPointer, _ context: OpaquePointer?) {
    let start = (utf8.baseAddress ?? UnsafeRawPointer(SQLiteNaN.bytes)).assumingMemoryBound(to: CChar.self)
    sqlite3_result_text64(
      context, start, UInt64(utf8.count), persistence_sqlite3_transient(), UInt8(SQLITE_UTF8))
  }

  static func result(_ bytes: UnsafeRawBufferPointer, _ context: OpaquePointer?) {
    // SQLite takes a nil address for NULL.
    let start = bytes.baseAddress ?? UnsafeRawPointer(SQLiteNaN.bytes)
    sqlite3_result_blob64(context, start, UInt64(bytes.count), persistence_sqlite3_transient())
  }
}
