import CSQLite
import Foundation
import PersistenceDriver
import PersistenceSQL

/// A prepared statement of a connection, with the cells of its current row.
final class SQLiteStatement {
  let handle: OpaquePointer
  let model: SQLiteModel?
  let key: StatementKey?

  /// Whether a caller is stepping through it.
  var isInUse = false

  /// Whether its plan sorts; nil until ``planSorts()`` has asked SQLite.
  var sorts: Bool?

  unowned let connection: SQLiteConnection
  /// Whether Swift objects are bound, which ``finish()`` releases.
  var holdsObjects = false
  var boundUUIDs: UnsafeMutablePointer<uuid_t>?
  private var cells: UnsafeMutableBufferPointer<RowCell>?
  /// The readers of all fields; the model owns their memory.
  private let readers: UnsafeBufferPointer<SQLiteCellReader>?

  init(_ handle: OpaquePointer, on connection: SQLiteConnection, model: SQLiteModel?, key: StatementKey?) {
    self.handle = handle
    self.connection = connection
    self.model = model
    self.key = key
    readers = model?.columns.readers
  }

  deinit {
    sqlite3_finalize(handle)
    cells?.deallocate()
    boundUUIDs?.deallocate()
  }

  /// Moves to the next row; false at the end.
  ///
  /// Do not call it again before ``reset()`` then: SQLite would start over.
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      let error = connection.error(code, action)
      // After a change of the schema, SQLite prepares the statement again, and may reject it.
      if let model, error.isSQLError { throw error.catalogMismatch(model) }
      throw error
    }
  }

  /// Moves to the first row outside of transactions, in the state that the statement shows until ``finish()``.
  ///
  /// - Returns: Whether there is a row; nil if a transaction must read the catalog first, and then the rows.
  func firstStep() throws -> Bool? {
    let code = sqlite3_step(handle)
    // Made at once, because the next use of the connection replaces it.
    let error = code == SQLITE_ROW || code == SQLITE_DONE ? nil : connection.error(code, action)
    if wasReprepared, (try? connection.hasCurrentCatalog()) != true {
      // Prepared anew, it would no longer tell that the declarations are stale, should the next transaction fail.
      connection.discardModels()
      return nil
    }
    guard let error else { return code == SQLITE_ROW }
    // SQLite may have failed to prepare it again.
    guard error.isSQLError else { throw error }
    return nil
  }

  /// Runs a statement that yields no rows.
  func run() throws { while try step() {} }

  /// Goes back to the beginning, keeping the bindings.
  func reset() { sqlite3_reset(handle) }

  /// Makes the statement available for reuse.
  func finish() {
    sqlite3_reset(handle)
    if holdsObjects {
      sqlite3_clear_bindings(handle)
      holdsObjects = false
    }
    isInUse = false
  }

  /// Whether SQLite has prepared the statement again; reading it resets the counter.
  ///
  /// It does so after a change of the schema, and where a partial index fits only some of the bound values.
  private var wasReprepared: Bool { sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 1) > 0 }

  private var action: String {
    let name = model?.schema.name ?? "the store"
    return switch key?.kind {
    case .insert, .update, .save: "write a \(name)"
    case .set, .setPage: "change a \(name)"
    case .delete, .deleteAll, .deletePage, .deleteKey: "delete from \(name)"
    default: "read from \(name)"
    }
  }

  /// Whether the plan sorts, rather than read the rows in the order of an index or the key.
  func planSorts() throws -> Bool {
    if let sorts { return sorts }
    guard let sql = sqlite3_sql(handle) else { return false }
    let sorts = try connection.explain(String(cString: sql)).contains { $0.hasPrefix("USE TEMP B-TREE") }
    self.sorts = sorts
    if let key { connection.store.cache(sorts: sorts, key) }
    return sorts
  }

  /// The statement's own cells, for ``fill(_:_:)``.
  func cells(of columns: SQLiteColumns) -> UnsafeMutableBufferPointer<RowCell> {
    if let cells { return cells }
    let made = Self.makeCells(columns.readers.count)
    cells = made
    return made
  }

  static func makeCells(_ count: Int) -> UnsafeMutableBufferPointer<RowCell> {
    let made = UnsafeMutableBufferPointer<RowCell>.allocate(capacity: count)
    made.initialize(repeating: .null)
    return made
  }

  /// Calls a closure with the current row.
  @inline(__always)
  func withRow<Result>(_ columns: SQLiteColumns, _ body: (borrowing Row) throws -> Result) throws -> Result {
    let cells = cells(of: columns)
    try fill(cells, columns)
    return try body(Row(cells: UnsafeBufferPointer(start: cells.baseAddress, count: columns.selectedCount)))
  }

  /// Calls a closure with the current row, which has all fields.
  ///
  /// It touches no object that connections share, and so avoids contended reference counts.
  @inline(__always)
  func withWholeRow(_ body: (borrowing Row) throws -> Void) throws {
    guard let readers else { return }
    if cells == nil { cells = Self.makeCells(readers.count) }
    guard let cells else { return }
    if let column = firstMismatch(cells, readers) {
      guard let model else { throw Self.mismatch }
      throw mismatch(in: column, model.columns)
    }
    try body(Row(cells: UnsafeBufferPointer(cells)))
  }

  /// Points cells at the columns of the current row, in SQLite's memory.
  @inline(__always)
  func fill(_ cells: UnsafeMutableBufferPointer<RowCell>, _ columns: SQLiteColumns) throws {
    guard let column = firstMismatch(cells, columns) else { return }
    throw mismatch(in: column, columns)
  }

  /// Fills cells like ``fill(_:_:)`` and returns the first column whose value its field cannot hold.
  @inline(__always)
  func firstMismatch(_ cells: UnsafeMutableBufferPointer<RowCell>, _ columns: SQLiteColumns) -> Int? {
    firstMismatch(cells, columns.readers)
  }

  @inline(__always)
  private func firstMismatch(
    _ cells: UnsafeMutableBufferPointer<RowCell>, _ readers: UnsafeBufferPointer<SQLiteCellReader>
  ) -> Int? {
    let handle = handle
    for column in 0..<readers.count {
      guard let cell = readers[column].cell(SQLiteValue(handle, column: column)) else { return column }
      cells[column] = cell
    }
    return nil
  }

  private static let mismatch = PersistenceError.damaged("a column holds a value of another kind")

  /// The error for a column whose value its field cannot hold, with the record's key where the statement reads it.
  private func mismatch(in column: Int, _ columns: SQLiteColumns) -> PersistenceError {
    guard let model else { return Self.mismatch }
    let field = model.schema.fields[columns.positions[column]]
    var values: [PersistentValue] = []
    for column in columns.columns(of: model.schema.keyPositions) {
      if let value = try? columns.readers[column].cell(SQLiteValue(handle, column: column))?.value() {
        values.append(value)
      }
    }
    return mismatch(
      column, field, key: values.count == model.schema.keyPositions.count ? RecordKey(values) : nil)
  }

  private func mismatch(_ column: Int, _ field: FieldSchema, key: RecordKey?) -> PersistenceError {
    let found = sqlite3_column_type(handle, Int32(truncatingIfNeeded: column))
    let names = [
      SQLITE_INTEGER: "an integer", SQLITE_FLOAT: "a real number", SQLITE_TEXT: "text", SQLITE_NULL: "NULL",
    ]
    let table = model?.table
    let position = model?.schema.position(of: field.name)
    // The function that makes documents returns malformed text as bytes.
    let isMadeDocument = position.flatMap { table?.columns[$0].comparison } == .asDocument
    let isText = [.text, .decimal, .document].contains(field.kind.tag)
    let isMalformed = isText && found == (isMadeDocument ? SQLITE_BLOB : SQLITE_TEXT)
    let name = isMalformed ? "text that is not valid UTF-8" : names[found] ?? "a blob"
    return PersistenceError(
      .damaged,
      "the column “\(position.flatMap { table?.columns[$0].name } ?? field.name)” of the table "
        + "“\(table?.name ?? "")” holds \(name) where \(field) was expected; nothing was changed: correct the "
        + "cell, or restore it from a backup",
      model: model?.schema.name, field: field.name, key: key, location: connection.store.location)
  }

  /// The values of the first columns, which hold the fields at these positions.
  func values(_ positions: [Int]) throws -> [PersistentValue] {
    try values(Array(positions.indices), of: positions)
  }

  /// The values of columns that hold the fields at these positions, such as a key or sort key.
  func values(_ columns: [Int], of positions: [Int]) throws -> [PersistentValue] {
    guard let model else { return [] }
    var values: [PersistentValue] = []
    values.reserveCapacity(columns.count)
    for (column, position) in zip(columns, positions) {
      values.append(try value(column, by: model.cells[position], of: model.schema.fields[position]))
    }
    return values
  }

  /// The value of a column that holds a field.
  func value(_ column: Int, by reader: SQLiteCellReader, of field: FieldSchema) throws -> PersistentValue {
    guard let cell = reader.cell(SQLiteValue(handle, column: column)) else {
      throw mismatch(column, field, key: nil)
    }
    return try cell.value()
  }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// The bytes of a column's text, valid until the next step; nil where the value is not text.
  func text(_ column: Int) -> UnsafeRawBufferPointer? {
    let value = SQLiteValue(handle, column: column)
    return value.type == SQLITE_TEXT ? value.text : nil
  }
}
