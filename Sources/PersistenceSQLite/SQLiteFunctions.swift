import CSQLite
import PersistenceDriver
import PersistenceSQL
import PersistenceDriverSupport

/// What a function that SQLite called threw: SQLite itself passes a text only.
final class SQLiteFailure {
  private var error: PersistenceError?

  func set(_ error: any Error) {
    self.error = error as? PersistenceError ?? PersistenceError(.engineFailure, "\(error)")
  }

  func take() -> PersistenceError? {
    defer { error = nil }
    return error
  }
}

/// A search in text, as a statement's parameter.
final class SQLiteSearch {
  static var pointerType: UnsafePointer<CChar> { pointer("PersistenceSearch") }
  let matcher: TextMatcher

  init(_ matcher: TextMatcher) { self.matcher = matcher }
}

/// A condition that the evaluator decides, as a statement's parameter.
final class SQLiteCondition {
  static var pointerType: UnsafePointer<CChar> { pointer("PersistenceCondition") }
  private let condition: CompiledPredicate
  private let positions: [Int]
  private let readers: [SQLiteCellReader]
  private let row: RowBuffer

  init(_ condition: CompiledPredicate, positions: [Int], cells: [SQLiteCellReader]) {
    self.condition = condition
    self.positions = positions
    readers = positions.map { cells[$0] }
    row = RowBuffer(count: cells.count)
  }

  func holds(_ arguments: UnsafeMutablePointer<OpaquePointer?>, count: Int) throws -> Bool {
    for (number, position) in positions.enumerated() where number + 1 < count {
      guard let cell = readers[number].cell(SQLiteValue(arguments[number + 1])) else {
        throw PersistenceError.damaged("field number \(position) holds a value of another kind than declared")
      }
      row.setCell(cell, at: position)
    }
    return try row.withRow { try condition.matches($0) }
  }
}

private func pointer(_ name: StaticString) -> UnsafePointer<CChar> {
  UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
}

extension SQLiteArrayParameter {
  static var pointerType: UnsafePointer<CChar> { pointer("PersistenceList") }
}

extension SQLiteConnection {
  /// Registers the functions that statements of ours call.
  func register() throws {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
    let own = Unmanaged.passUnretained(failure).toOpaque()
    try check(
      sqlite3_create_function_v2(
        handle, SQLiteDialect.searchFunction, 2, flags, own, { searchText($0, $2) }, nil, nil, nil))
    try check(
      sqlite3_create_function_v2(
        handle, SQLiteDialect.conditionFunction, -1, flags, own, { evaluateCondition($0, $1, $2) }, nil, nil,
        nil))
    try check(
      sqlite3_create_function_v2(
        handle, SQLiteDialect.decimalFunction, 1, flags, own, { orderDecimal($0, $2) }, nil, nil, nil))
    if store.configuration.surveysForeignTables { try registerReading() }
    try check(
      sqlite3_create_module_v2(handle, SQLiteDialect.listFunction, SQLiteArrayModule.module, nil, nil))
  }

  private func check(_ code: Int32) throws {
    guard code == SQLITE_OK else { throw error(code, "register a function") }
  }
}

private func searchText(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
  guard let arguments, sqlite3_value_type(arguments[1]) == SQLITE_TEXT,
    let pointer = sqlite3_value_pointer(arguments[0], SQLiteSearch.pointerType)
  else { return sqlite3_result_int(context, 0) }
  let search = Unmanaged<SQLiteSearch>.fromOpaque(pointer).takeUnretainedValue()
  let text = SQLiteValue(arguments[1]).text
  do {
    sqlite3_result_int(context, try search.matcher.matches(text.assumingMemoryBound(to: UInt8.self)) ? 1 : 0)
  } catch {
    fail(context, error)
  }
}

private func evaluateCondition(
  _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let arguments, count > 0,
    let pointer = sqlite3_value_pointer(arguments[0], SQLiteCondition.pointerType)
  else { return sqlite3_result_int(context, 0) }
  let condition = Unmanaged<SQLiteCondition>.fromOpaque(pointer).takeUnretainedValue()
  do {
    sqlite3_result_int(context, try condition.holds(arguments, count: Int(count)) ? 1 : 0)
  } catch {
    fail(context, error)
  }
}

private func orderDecimal(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
  guard let arguments, sqlite3_value_type(arguments[0]) != SQLITE_NULL else {
    return sqlite3_result_null(context)
  }
  let source = SQLiteValue(arguments[0])
  guard source.type == SQLITE_TEXT, let key = DecimalOrder.key(source.text) else {
    return fail(context, PersistenceError.damaged("a decimal field holds what is no decimal number"))
  }
  key.withUnsafeBytes {
    sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), persistence_sqlite3_transient())
  }
}

private func fail(_ context: OpaquePointer?, _ error: any Error) {
  if let own = sqlite3_user_data(context) {
    Unmanaged<SQLiteFailure>.fromOpaque(own).takeUnretainedValue().set(error)
  }
  sqlite3_result_error(context, "a function of the persistence package failed", -1)
}
