import CSQLite
import Foundation
import PersistenceDriver
import PersistenceSQL

/// One prepared statement of a connection, with the row that it fills.
final class SQLiteStatement {
  let handle: OpaquePointer
  let model: SQLiteModel?
  let shape: StatementKey?

  /// Whether somebody is stepping through it.
  var isInUse = false

  /// Whether its plan sorts in memory; nil before somebody asked.
  var sorts: Bool?

  private unowned let connection: SQLiteConnection
  private var holdsObjects = false
  private var cells: UnsafeMutableBufferPointer<RowCell>?
  private var ownUUIDs: UnsafeMutablePointer<uuid_t>?
  /// How all fields of the model are read, where it has one, which keeps them.
  private let readers: UnsafeBufferPointer<SQLiteCellReader>?

  init(_ handle: OpaquePointer, on connection: SQLiteConnection, model: SQLiteModel?, shape: StatementKey?) {
    self.handle = handle
    self.connection = connection
    self.model = model
    self.shape = shape
    readers = model?.columns.readers
  }

  deinit {
    sqlite3_finalize(handle)
    cells?.deallocate()
    ownUUIDs?.deallocate()
  }

  /// Moves to the next row; false where there is none.
  ///
  /// After that it is not called again before ``reset()``: SQLite would begin anew.
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      let error = connection.error(code, action)
      // SQLite prepares it anew where the schema has changed, and may then find that it no longer fits.
      if let model, error.isAboutTheText { throw error.unlike(model) }
      throw error
    }
  }

  /// Runs a statement that yields no rows.
  func run() throws {
    while try step() {}
  }

  /// Goes back to the beginning, keeping what is bound.
  func reset() { sqlite3_reset(handle) }

  /// Gives the statement back.
  func finish() {
    sqlite3_reset(handle)
    if holdsObjects {
      sqlite3_clear_bindings(handle)
      holdsObjects = false
    }
    isInUse = false
  }

  /// Whether SQLite had to prepare it anew because the schema has changed; asking forgets it.
  var wasPreparedAnew: Bool { sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 1) > 0 }

  private var action: String {
    let name = model?.schema.name ?? "the store"
    return switch shape?.kind {
    case .insert, .update, .save: "write a \(name)"
    case .set, .setChosen: "change a \(name)"
    case .delete, .deleteAll, .deleteChosen, .deleteKey: "delete from \(name)"
    default: "read from \(name)"
    }
  }

  /// Whether the plan needs a sort: then the rows do not come in order from an index or the key.
  func planSorts() throws -> Bool {
    if let sorts { return sorts }
    guard let sql = sqlite3_sql(handle) else { return false }
    let sorts = try connection.explain(String(cString: sql)).contains { $0.hasPrefix("USE TEMP B-TREE") }
    self.sorts = sorts
    if let shape { connection.store.note(sorts: sorts, shape) }
    return sorts
  }

  /// Binds what a request asks for.
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

  private func bind(_ object: AnyObject, _ type: UnsafePointer<CChar>, at index: Int32) throws {
    holdsObjects = true
    try check(
      sqlite3_bind_pointer(handle, index, Unmanaged.passRetained(object).toOpaque(), type) { pointer in
        if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
      })
  }

  /// Binds a value as its column holds it; its bytes are copied.
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

  /// Binds a cell as its column holds it; its bytes are pointed at, and must stay until the step is done.
  @inline(__always)
  func bind(cell: RowCell, at index: Int32) throws {
    switch cell.tag {
    case .null: try check(sqlite3_bind_null(handle, index))
    case .bool, .integer: try check(sqlite3_bind_int64(handle, index, cell.integerValue))
    case .double, .date: try bind(cell.doubleValue, at: index)
    case .text, .document, .decimal: try bind(text: cell.borrowedBytes, at: index, nil)
    case .bytes: try bind(blob: cell.borrowedBytes, at: index, nil)
    case .uuid:
      // A cell holds a UUID itself, so it is given a place that stays.
      let place = uuids() + Int(index - 1)
      place.pointee = cell.uuidValue.uuid
      try check(sqlite3_bind_blob64(handle, index, place, 16, nil))
    }
  }

  /// A place for a UUID for each parameter.
  private func uuids() -> UnsafeMutablePointer<uuid_t> {
    if let ownUUIDs { return ownUUIDs }
    let made = UnsafeMutablePointer<uuid_t>.allocate(
      capacity: Int(sqlite3_bind_parameter_count(handle)) + 1)
    ownUUIDs = made
    return made
  }

  private func bind(_ number: Double, at index: Int32) throws {
    guard number.isNaN else { return try check(sqlite3_bind_double(handle, index, number)) }
    // SQLite has no NaN: it would be NULL. The blob sorts after every number and equals itself.
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
    // A nil address would be NULL.
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

  /// The cells that ``fill(_:_:)`` fills for this statement.
  func cells(of columns: SQLiteColumns) -> UnsafeMutableBufferPointer<RowCell> {
    if let cells { return cells }
    let made = Self.makeCells(columns.readers.count)
    cells = made
    return made
  }

  private static func makeCells(_ count: Int) -> UnsafeMutableBufferPointer<RowCell> {
    let made = UnsafeMutableBufferPointer<RowCell>.allocate(capacity: count)
    made.initialize(repeating: .null)
    return made
  }

  /// Lends the row that the statement stands on.
  @inline(__always)
  func withRow<Result>(_ columns: SQLiteColumns, _ body: (borrowing Row) throws -> Result) throws -> Result {
    let cells = cells(of: columns)
    try fill(cells, columns)
    return try body(Row(cells: UnsafeBufferPointer(start: cells.baseAddress, count: columns.lent)))
  }

  /// Lends the row of all fields that the statement stands on.
  ///
  /// It touches no object that the connections have in common: threads that count references to one object wait for
  /// each other.
  @inline(__always)
  func withWholeRow(_ body: (borrowing Row) throws -> Void) throws {
    guard let readers else { return }
    if cells == nil { cells = Self.makeCells(readers.count) }
    guard let cells else { return }
    if let column = firstMisfit(cells, readers) {
      guard let model else { throw PersistenceError.damaged("a column holds a value of another kind") }
      throw misfit(in: column, model.columns)
    }
    try body(Row(cells: UnsafeBufferPointer(cells)))
  }

  /// Lets cells point at the columns that the statement stands on, in SQLite's memory.
  @inline(__always)
  func fill(_ cells: UnsafeMutableBufferPointer<RowCell>, _ columns: SQLiteColumns) throws {
    guard let column = firstMisfit(cells, columns) else { return }
    throw misfit(in: column, columns)
  }

  /// The same; the first column that holds what its field cannot, nil for none.
  @inline(__always)
  func firstMisfit(_ cells: UnsafeMutableBufferPointer<RowCell>, _ columns: SQLiteColumns) -> Int? {
    firstMisfit(cells, columns.readers)
  }

  @inline(__always)
  private func firstMisfit(
    _ cells: UnsafeMutableBufferPointer<RowCell>, _ readers: UnsafeBufferPointer<SQLiteCellReader>
  ) -> Int? {
    let handle = handle
    for column in 0..<readers.count {
      guard let cell = readers[column].cell(SQLiteValue(handle, column: column)) else { return column }
      cells[column] = cell
    }
    return nil
  }

  /// Says that a column holds what its field cannot, and which record it is where its key is among the columns.
  private func misfit(in column: Int, _ columns: SQLiteColumns) -> PersistenceError {
    guard let model else { return PersistenceError.damaged("a column holds a value of another kind") }
    let field = model.schema.fields[columns.positions[column]]
    var values: [PersistentValue] = []
    for column in columns.columns(of: model.schema.keyPositions) {
      if let value = try? columns.readers[column].cell(SQLiteValue(handle, column: column))?.value() {
        values.append(value)
      }
    }
    return misfit(
      column, field, key: values.count == model.schema.keyPositions.count ? RecordKey(values) : nil)
  }

  private func misfit(_ column: Int, _ field: FieldSchema, key: RecordKey?) -> PersistenceError {
    let found = sqlite3_column_type(handle, Int32(truncatingIfNeeded: column))
    let names = [
      SQLITE_INTEGER: "an integer", SQLITE_FLOAT: "a real number", SQLITE_TEXT: "a text", SQLITE_NULL: "NULL",
    ]
    let table = model?.table
    let position = model?.schema.position(of: field.name)
    // What makes documents leaves bytes in the place of such text.
    let isMade = position.flatMap { table?.columns[$0].comparison } == .asDocument
    let isText = [.text, .decimal, .document].contains(field.kind.tag)
    let isMalformed = isText && found == (isMade ? SQLITE_BLOB : SQLITE_TEXT)
    let name = isMalformed ? "text that is no UTF-8" : names[found] ?? "a blob"
    return PersistenceError(
      .damaged,
      "the column “\(position.flatMap { table?.columns[$0].name } ?? field.name)” of the table "
        + "“\(table?.name ?? "")” holds \(name) where \(field) was expected; nothing was changed: correct the "
        + "cell, or restore it from a copy",
      model: model?.schema.name, field: field.name, key: key, location: connection.store.location)
  }

  /// The values of the first columns, which hold fields whose positions are known.
  func values(_ positions: [Int]) throws -> [PersistentValue] {
    try values(Array(positions.indices), of: positions)
  }

  /// The values of columns that hold fields whose positions are known, such as a key or the values of an order.
  func values(_ columns: [Int], of positions: [Int]) throws -> [PersistentValue] {
    guard let model else { return [] }
    var values: [PersistentValue] = []
    values.reserveCapacity(columns.count)
    for (column, position) in zip(columns, positions) {
      values.append(try value(column, by: model.cells[position], of: model.schema.fields[position]))
    }
    return values
  }

  /// The value of one column, which a field may hold.
  func value(_ column: Int, by reader: SQLiteCellReader, of field: FieldSchema) throws -> PersistentValue {
    guard let cell = reader.cell(SQLiteValue(handle, column: column)) else {
      throw misfit(column, field, key: nil)
    }
    return try cell.value()
  }

  /// The whole number in a column.
  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
}
