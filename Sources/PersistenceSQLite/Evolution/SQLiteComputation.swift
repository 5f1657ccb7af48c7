import CSQLite
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// The computed fields of a change as a function of SQL, so that one statement changes all records.
///
/// `persistence_computed(computation, n, column, …)` is the n-th computed field of the record with these columns. SQLite
/// calls it once for each computed field of a record, in an order of its own; the first call computes all of them.
final class SQLiteComputation {
  static var pointerType: UnsafePointer<CChar> { pointerName("PersistenceComputation") }
  private static let function = "persistence_computed"
  /// The most columns in one call; SQLite allows 127 arguments by default.
  private static let largestCall = 100

  private let change: SchemaChange
  private let computed: ComputedFields
  private let sources: [Int]
  private let readers: [SQLiteCellReader]
  private let row: RowBuffer
  /// Whether the row has memory of its own for the columns.
  private let copiesColumns: Bool
  @exclusivity(unchecked) private var values: UnsafeMutablePointer<RowCell>?
  /// Whether the value of each computed field has been returned for the current record.
  @exclusivity(unchecked) private var isTaken: [Bool]
  @exclusivity(unchecked) private var done = 0
  /// The error that ended the statement; SQLite itself passes on a text only.
  private(set) var failure: (any Error)?

  init(_ change: SchemaChange, cells: [SQLiteCellReader]) {
    self.change = change
    computed = ComputedFields(change)
    sources = change.computeSources
    readers = sources.map { cells[$0] }
    copiesColumns = readers.count > Self.largestCall
    row = RowBuffer(count: cells.count)
    isTaken = Array(repeating: true, count: computed.positions.count)
  }

  /// The expressions of the computed fields, in the order of the fields.
  ///
  /// The computation is bound to the parameter; the columns are those of the stored fields.
  func expressions(_ computation: String, _ columns: [String]) -> [String] {
    func call(_ arguments: some Sequence<String>) -> String {
      "\(Self.function)(\(([computation] + arguments).joined(separator: ", ")))"
    }
    let columns = change.computeSources.map { columns[$0] }
    var arguments = columns
    if columns.count > Self.largestCall {
      // A call with a negative number keeps the columns from a position on, for the call that takes its result.
      arguments = stride(from: 0, to: columns.count, by: Self.largestCall).map { start in
        call(["\(-1 - start)"] + columns[start...].prefix(Self.largestCall))
      }
    }
    return computed.positions.indices.map { call(["\($0)"] + arguments) }
  }

  /// Calls a closure with the value of a call.
  private func withValue(
    _ arguments: UnsafeBufferPointer<OpaquePointer?>, _ body: (RowCell) -> Void
  ) throws {
    let number = Int(SQLiteValue(arguments[1]).integer)
    let columns = arguments.dropFirst(2)
    if number < 0 {
      try keep(columns, from: -1 - number, copying: true)
      return body(.null)
    }
    if isTaken[number] {
      if !copiesColumns { try keep(columns, from: 0, copying: false) }
      values = try row.withRow { try computed.compute(from: $0) }
      if copiesColumns { row.reset() }
      for position in isTaken.indices { isTaken[position] = false }
      if done.isMultiple(of: 16) { try StoreProgress.report(done) }
      done += 1
    }
    isTaken[number] = true
    body(values?[number] ?? .null)
  }

  private func keep(
    _ columns: Slice<UnsafeBufferPointer<OpaquePointer?>>, from start: Int, copying: Bool
  ) throws {
    var number = start
    for column in columns {
      defer { number += 1 }
      let position = sources[number]
      guard let cell = readers[number].cell(SQLiteValue(column)) else {
        let field = change.stored.fields[position]
        throw PersistenceError.damaged("the column of “\(field.name)” holds a value of another kind")
      }
      if copying { row.setCopy(of: cell, at: position) } else { row.setCell(cell, at: position) }
    }
  }
}

extension SQLiteComputation {
  /// Registers the function, which stays on the connection: SQLite removes none while a statement runs.
  static func register(on connection: SQLiteConnection) throws {
    let code = sqlite3_create_function_v2(
      connection.handle, function, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, nil,
      { context, count, arguments in
        let arguments = UnsafeBufferPointer(start: arguments, count: Int(count))
        guard let first = arguments.first,
          let pointer = sqlite3_value_pointer(first, SQLiteComputation.pointerType)
        else { return sqlite3_result_null(context) }
        let computation = Unmanaged<SQLiteComputation>.fromOpaque(pointer).takeUnretainedValue()
        do {
          try computation.withValue(arguments) { SQLiteArrayModule.result($0, context) }
        } catch {
          computation.failure = error
          sqlite3_result_error(context, "a value could not be computed", -1)
        }
      }, nil, nil, nil)
    guard code == SQLITE_OK else { throw connection.error(code, "register a function") }
  }
}
