import CSQLite
import Foundation
import PersistenceDriver
import PersistenceSQL
import PersistenceDriverSupport
import Synchronization

/// A connection to the file, opened without SQLite's own locks.
///
/// One thread uses it at a time: the thread that took it from the pool, holds the lock of a shared read transaction,
/// or is inside the writer's gate.
final class SQLiteConnection: @unchecked Sendable {  // one thread at a time, as described above
  let store: SQLiteStore
  let handle: OpaquePointer

  /// The catalog as this connection last read it; nil before.
  var catalog: SQLiteCatalog? { didSet { noteTriggers() } }
  /// Whether the app's own SQL has made temporary triggers, which only this connection has.
  var hasTemporaryTriggers = false { didSet { noteTriggers() } }
  /// Whether a write may fire a trigger of the file or of this connection: each write asks, and copies no catalog for it.
  private(set) var hasTriggers = false

  /// The declarations used on this connection under ``catalog``; keeping them keeps their identities unique.
  ///
  /// An array suffices: programs have few models, and ``lastModel`` avoids most searches.
  var models: [(declared: ModelSchema, model: SQLiteModel)] = []

  static let modelLimit = 50
  /// Whether running statements stop when the calling thread is interrupted.
  var isInterruptible = false

  /// The error of a Swift function that SQLite called; SQLite itself keeps its text only.
  let failure = SQLiteFailure()

  /// The lock of the shared read transaction on this connection; each one uses it again.
  private(set) lazy var readLock = NSRecursiveLock()

  /// The declaration, one of ``models``, and the statement used last: a bulk write reuses them for every row.
  var lastModel: (declared: ObjectIdentifier, model: SQLiteModel)?
  private var lastStatement: SQLiteStatement?

  /// The statement that last found a record by its key, and its declaration, one of ``models``.
  private var lastFind: (declared: ObjectIdentifier, statement: SQLiteStatement)?

  /// The order of the last request, and the number of its declaration.
  private var lastOrder: (model: UInt32, order: SQLOrder)?

  private var statements = StatementKeyTable<SQLiteStatement>()
  private var commands: [OpaquePointer?]
  private static let statementLimit = 400

  /// Opens a connection, and creates a missing file if allowed.
  init(_ store: SQLiteStore, creating: Bool = false) throws {
    self.store = store
    var handle: OpaquePointer?
    let flags =
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
      | (store.configuration.isReadOnly
        ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | (creating ? SQLITE_OPEN_CREATE : 0))
    let code = sqlite3_open_v2(store.path, &handle, flags, try SQLiteChecksums.fileSystem(of: store))
    guard code == SQLITE_OK, let handle else {
      let error = SQLiteErrorMapping.error(code, handle, "open the file", store.location)
      sqlite3_close_v2(handle)
      throw error
    }
    self.handle = handle
    commands = Array(repeating: nil, count: SQLiteCommand.allCases.count)
    store.counters.openings.add(1, ordering: .relaxed)
    // A double-quoted name that is not a column is an error, not a string.
    persistence_sqlite3_configure(handle, SQLITE_DBCONFIG_DQS_DML, 0)
    // Views and triggers of an untrusted file cannot call functions with side effects.
    persistence_sqlite3_configure(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    try requireSameFile()
    try register()
    setBusyTimeout(store.configuration.busyTimeout)
  }

  private func noteTriggers() { hasTriggers = catalog?.hasTriggers == true || hasTemporaryTriggers }

  /// Sets how long statements wait for the locks of other connections.
  func setBusyTimeout(_ timeout: Duration) {
    sqlite3_busy_timeout(handle, Int32(max(0, min(timeout.timeInterval * 1000, Double(Int32.max)))))
  }

  deinit {
    lastStatement = nil
    lastFind = nil
    statements.removeAll()
    for command in commands { sqlite3_finalize(command) }
    sqlite3_close_v2(handle)
  }

  /// The error for a result code of this connection.
  func error(_ code: Int32, _ action: String) -> PersistenceError {
    if let error = failure.take() { return error.at(location: store.location) }
    if code & 0xFF == SQLITE_INTERRUPT, let error = Self.interruption {
      return error.at(location: store.location)
    }
    return SQLiteErrorMapping.error(code, handle, action, store.location)
  }

  /// Whether no transaction is open.
  var isOutsideTransaction: Bool { sqlite3_get_autocommit(handle) != 0 }

  /// How many rows the last statement changed.
  var changes: Int { Int(sqlite3_changes64(handle)) }

  func prepare(_ sql: String, persistent: Bool, _ action: String) throws -> OpaquePointer {
    store.counters.preparations.add(1, ordering: .relaxed)
    var statement: OpaquePointer?
    var sql = sql
    let (code, rest) = sql.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        var tail: UnsafePointer<CChar>?
        let code = sqlite3_prepare_v3(
          handle, text.baseAddress, Int32(clamping: text.count),
          persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0, &statement, &tail)
        let read = tail.flatMap { tail in text.baseAddress.map { tail - $0 } } ?? text.count
        return (code, text.dropFirst(read).contains { !Self.isBlank($0) })
      }
    }
    guard code == SQLITE_OK else { throw error(code, action) }
    guard let statement, !rest else {
      sqlite3_finalize(statement)
      throw PersistenceError.invalidRequest("the text must contain exactly one statement")
    }
    return statement
  }

  /// Whether a character is white space or a semicolon.
  private static func isBlank(_ character: CChar) -> Bool {
    (9...13).contains(character) || character == 32 || character == 59
  }

  /// Calls a closure with the prepared statement of a key, from the cache if possible; throws
  /// ``PersistenceError/Code/damaged`` where the table contradicts the catalog.
  func withStatement<Result>(
    _ key: StatementKey, of model: SQLiteModel, _ body: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    let statement = try statement(key, of: model)
    defer { statement.finish() }
    return try body(statement)
  }

  /// The same with the bindings of a lowered request.
  func withStatement<Result>(
    _ statement: SQLStatement, of model: SQLiteModel, _ body: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    try withUnboundStatement(statement, of: model) { prepared in
      try prepared.bind(statement)
      return try body(prepared)
    }
  }

  /// The same without the bindings, for a closure that first looks at the plan.
  func withUnboundStatement<Result>(
    _ statement: SQLStatement, of model: SQLiteModel, _ body: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    let prepared = try self.statement(statement, of: model)
    defer { prepared.finish() }
    return try body(prepared)
  }

  /// The total order of a request; of the same object for requests that follow each other.
  func order(of request: FetchRequest, in model: SQLiteModel) throws -> SQLOrder {
    if let lastOrder, lastOrder.model == model.number, lastOrder.order.criteria == request.totalOrder,
      !request.isPlannedAnew
    {
      return lastOrder.order
    }
    let order = try SQLOrder(request.totalOrder, in: request.schema)
    if !request.isPlannedAnew { lastOrder = (model.number, order) }
    return order
  }

  /// The cached statement that finds records of a model by their keys, unless it is in use.
  ///
  /// The caller checks ``SQLiteStatement/wasReprepared`` afterwards, since the catalog may be stale.
  func cachedFind(for schema: ModelSchema) -> SQLiteStatement? {
    if let lastFind, lastFind.declared == schema.identity, !lastFind.statement.isInUse {
      lastFind.statement.isInUse = true
      return lastFind.statement
    }
    guard let model = knownModel(for: schema), let known = statements[model.find], !known.isInUse else {
      return nil
    }
    lastFind = (schema.identity, known)
    known.isInUse = true
    return known
  }

  /// Discards the declarations, which belong to a catalog; the next transaction maps them anew.
  func discardModels() {
    lastModel = nil
    lastFind = nil
    models.removeAll()
  }

  private func statement(_ key: StatementKey, of model: SQLiteModel) throws -> SQLiteStatement {
    if let lastStatement, !lastStatement.isInUse, let last = lastStatement.key, last == key {
      lastStatement.isInUse = true
      return lastStatement
    }
    let known = statements[key]
    if let known, !known.isInUse {
      known.isInUse = true
      lastStatement = known
      return known
    }
    let made = try prepare(text(of: key, on: model.table), key, of: model)
    if known == nil { keep(made, of: key) }
    return made
  }

  /// The prepared statement of a lowered request; a known shape makes no key and no text.
  private func statement(_ wanted: SQLStatement, of model: SQLiteModel) throws -> SQLiteStatement {
    if wanted.isPlannedAnew {
      let sql = SQLQueryTranslator.text(of: wanted.key, on: model.table, SQLiteDialect())
      return try prepare(SQLiteStore.StatementText(sql: sql), wanted.key, of: model)
    }
    if let cached = cachedStatement(wanted) { return cached }
    let key = wanted.key
    let made = try prepare(text(of: key, on: model.table), key, of: model)
    if statements[key] == nil { keep(made, of: key) }
    return made
  }

  /// The prepared statement of a lowered request, for one caller; nil if there is none, or it is in use.
  func cachedStatement(_ wanted: SQLStatement) -> SQLiteStatement? {
    if let lastStatement, !lastStatement.isInUse, let key = lastStatement.key, wanted.matches(key) {
      lastStatement.isInUse = true
      return lastStatement
    }
    guard let known = statements[wanted], !known.isInUse else { return nil }
    known.isInUse = true
    lastStatement = known
    return known
  }

  private func prepare(_ text: SQLiteStore.StatementText, _ key: StatementKey, of model: SQLiteModel) throws
    -> SQLiteStatement
  {
    let prepared: OpaquePointer
    do {
      prepared = try prepare(
        text.sql, persistent: true, "prepare a statement on the table of \(model.schema.name)")
    } catch let error as PersistenceError where error.isSQLError {
      throw error.catalogMismatch(model)
    }
    let made = SQLiteStatement(prepared, on: self, model: model, key: key)
    made.sorts = text.sorts
    made.isInUse = true
    return made
  }

  private func keep(_ statement: SQLiteStatement, of key: StatementKey) {
    if statements.count >= Self.statementLimit {
      lastFind = nil
      statements.removeAll()
    }
    statements[key] = statement
    lastStatement = statement
  }

  /// The text of a statement key, which the store caches.
  func text(of key: StatementKey, on table: SQLTable) -> SQLiteStore.StatementText {
    store.text(of: key) { SQLQueryTranslator.text(of: key, on: table, SQLiteDialect()) }
  }

  /// Runs a command and returns the integer that it yields; 0 if there is none.
  @discardableResult
  func number(_ command: SQLiteCommand) throws -> Int64 {
    let statement: OpaquePointer
    if let known = commands[command.index] {
      statement = known
    } else {
      statement = try prepare(command.rawValue, persistent: true, command.action)
      commands[command.index] = statement
    }
    let code = sqlite3_step(statement)
    let number = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0
    guard code == SQLITE_ROW || code == SQLITE_DONE else {
      let failure = error(code, command.action)
      sqlite3_reset(statement)
      throw failure
    }
    sqlite3_reset(statement)
    return number
  }
}
