import CSQLite
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// Passes on the error that a Swift function threw; SQLite itself passes on a text only.
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

/// A text search as a statement's parameter.
final class SQLiteSearch {
  static var pointerType: UnsafePointer<CChar> { pointerName("PersistenceSearch") }
  let matcher: TextMatcher

  init(_ matcher: TextMatcher) { self.matcher = matcher }
}

/// A condition for the evaluator as a statement's parameter.
final class SQLiteCondition {
  static var pointerType: UnsafePointer<CChar> { pointerName("PersistenceCondition") }
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

  func matches(_ arguments: UnsafeMutablePointer<OpaquePointer?>, count: Int) throws -> Bool {
    // One instruction of SQLite's virtual machine, it can take long: a condition may have thousands of searches.
    try ReadInterruption.check()
    for (number, position) in positions.enumerated() where number + 1 < count {
      guard let cell = readers[number].cell(SQLiteValue(arguments[number + 1])) else {
        throw PersistenceError.damaged("field number \(position) does not hold a value of its declared kind")
      }
      row.setCell(cell, at: position)
    }
    return try row.withRow { try condition.matches($0) }
  }
}

/// The type of a pointer that is bound to a parameter: SQLite compares names.
func pointerName(_ name: StaticString) -> UnsafePointer<CChar> {
  UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
}

extension SQLiteArrayParameter {
  static var pointerType: UnsafePointer<CChar> { pointerName("PersistenceList") }
}

extension SQLiteConnection {
  /// Registers the functions that this package's statements call.
  func register() throws {
    try register(SQLiteDialect.searchFunction, 2) { searchText($0, $2) }
    try register(SQLiteDialect.conditionFunction, -1) { evaluateCondition($0, $1, $2) }
    try register(SQLiteDialect.decimalFunction, 1) { orderDecimal($0, $2) }
    if store.configuration.surveysForeignTables {
      try register(SQLiteDialect.documentFunction, 1) { SQLiteDocuments.convert($0, $2) }
    }
    try check(
      sqlite3_create_module_v2(handle, SQLiteDialect.listFunction, SQLiteArrayModule.module, nil, nil))
  }

  private func register(
    _ name: String, _ count: Int32,
    _ body: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
  ) throws {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
    let own = Unmanaged.passUnretained(failure).toOpaque()
    try check(sqlite3_create_function_v2(handle, name, count, flags, own, body, nil, nil, nil))
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
    sqlite3_result_int(context, try condition.matches(arguments, count: Int(count)) ? 1 : 0)
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
    return fail(
      context, PersistenceError.damaged("a decimal field holds a value that is not a decimal number"))
  }
  key.withUnsafeBytes { SQLiteArrayModule.result($0, context) }
}

private func fail(_ context: OpaquePointer?, _ error: any Error) {
  if let own = sqlite3_user_data(context) {
    Unmanaged<SQLiteFailure>.fromOpaque(own).takeUnretainedValue().set(error)
  }
  sqlite3_result_error(context, "a function of the persistence package failed", -1)
}

/// Encodes decimal numbers as bytes that sort like the numbers (contract V4a).
///
/// The first byte is the class: negative, zero, positive, NaN. For a number 0.d₁d₂… × 10ᵉ, a biased exponent and the
/// digits follow. A negative number inverts them and ends with FF.
enum DecimalOrder {
  /// The key of a decimal's text: digits with an optional sign, point and exponent, or `NaN`; nil for other text.
  static func key(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    if text.elementsEqual("NaN".utf8) { return [4] }
    var isNegative = false
    var digits: [UInt8] = []
    var (exponent, written) = (0, 0)
    var (hasPoint, hasDigit) = (false, false)
    var index = 0
    if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") {
      isNegative = text[index] == UInt8(ascii: "-")
      index += 1
    }
    scan: while index < text.count {
      switch text[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        hasDigit = true
        if digits.isEmpty, text[index] == UInt8(ascii: "0") {
          if hasPoint { exponent -= 1 }
        } else {
          digits.append(text[index])
          if !hasPoint { exponent += 1 }
        }
      case UInt8(ascii: "."):
        guard !hasPoint else { return nil }
        hasPoint = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        guard let number = Int(String(decoding: text[(index + 1)...], as: UTF8.self)),
          (-9_999...9_999).contains(number)
        else { return nil }
        written = number
        break scan
      default: return nil
      }
      index += 1
    }
    guard hasDigit else { return nil }
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    guard !digits.isEmpty else { return [2] }
    let offset = exponent + written + 0x4000
    guard offset >= 0, offset <= 0xFFFF else { return nil }
    let body = [UInt8(offset >> 8), UInt8(offset & 0xFF)] + digits
    return isNegative ? [1] + body.map { ~$0 } + [0xFF] : [3] + body
  }
}
