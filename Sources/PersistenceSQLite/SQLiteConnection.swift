import CSQLite
import Logging
import PersistenceDriver
import PersistenceSQL
import PersistenceDriverSupport

/// One connection to the file, opened without SQLite's own locks.
///
/// It is used by one thread at a time: by the one that took it from the pool, under a pin's lock, or inside the
/// writer's gate.
final class SQLiteConnection: @unchecked Sendable {  // one thread at a time, as said above
  let store: SQLiteStore
  let handle: OpaquePointer

  /// What the store's catalog said when it was last read on this connection; nil before.
  var catalog: SQLiteCatalog?

  /// The declarations that have been used on this connection under ``catalog``; they are kept, so that their
  /// identities are not given to others.
  ///
  /// A list: programs have few models, and looking for the one used last takes no search at all.
  var models: [(declared: ModelSchema, model: SQLiteModel)] = []

  /// How many of them are remembered.
  static let modelLimit = 50

  /// The failure of a function that SQLite called, which it knows as a text only.
  let failure = SQLiteFailure()

  /// The declaration and the statement that were used last: whoever writes many rows asks for the same ones.
  var lastModel: (declared: ModelSchema, model: SQLiteModel)?
  private var lastStatement: SQLiteStatement?

  /// The statement that last found a record by its key, and the declaration that it was for: one of ``models``.
  private var lastFind: (declared: ObjectIdentifier, statement: SQLiteStatement)?

  private var statements = StatementKeyTable<SQLiteStatement>()
  private var commands: [SQLiteStatement?]

  /// How many statements are kept for use again.
  private static let statementLimit = 400

  /// Opens a connection.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - creating: Whether the file is made where it does not exist.
  /// - Throws: ``PersistenceError``.
  init(_ store: SQLiteStore, creating: Bool = false) throws {
    self.store = store
    SQLiteLibrary.isPrepared
    var handle: OpaquePointer?
    let flags =
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
      | (store.configuration.isReadOnly
        ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | (creating ? SQLITE_OPEN_CREATE : 0))
    let code = sqlite3_open_v2(store.path, &handle, flags, nil)
    guard code == SQLITE_OK, let handle else {
      let error = SQLiteErrorMapping.error(code, handle, "open the file", store.location)
      sqlite3_close_v2(handle)
      throw error
    }
    self.handle = handle
    commands = Array(repeating: nil, count: SQLiteCommand.allCases.count)
    store.counters.count(.connectionOpened)
    // A name in double quotes that is no column is an error, not a text.
    persistence_sqlite3_configure(handle, SQLITE_DBCONFIG_DQS_DML, 0)
    // Views and triggers of a file made by somebody else call no function that could harm.
    persistence_sqlite3_configure(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    try register()
    let milliseconds = store.configuration.busyTimeout.timeInterval * 1000
    sqlite3_busy_timeout(handle, Int32(min(milliseconds, Double(Int32.max))))
  }

  deinit {
    lastStatement = nil
    lastFind = nil
    statements.removeAll()
    commands.removeAll()
    sqlite3_close_v2(handle)
  }

  /// Makes an error of a result code of this connection.
  func error(_ code: Int32, _ action: String) -> PersistenceError {
    if let error = failure.take() { return error.at(location: store.location) }
    return SQLiteErrorMapping.error(code, handle, action, store.location)
  }

  /// Runs a text of our own that has no parameters and yields nothing.
  func execute(_ sql: String, _ action: String) throws {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code, action) }
  }

  /// Whether no transaction is under way.
  var isOutsideTransaction: Bool { sqlite3_get_autocommit(handle) != 0 }

  /// How many rows the last statement changed.
  var changes: Int { Int(sqlite3_changes64(handle)) }

  /// Prepares a text.
  func prepare(_ sql: String, persistent: Bool, _ action: String) throws -> OpaquePointer {
    store.counters.count(.prepared)
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
      throw PersistenceError.invalidRequest("the text must hold exactly one statement")
    }
    return statement
  }

  /// White space, or the semicolon that may end a statement.
  private static func isBlank(_ character: CChar) -> Bool {
    (9...13).contains(character) || character == 32 || character == 59
  }

  /// Lends the statement of a shape, prepared the first time.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where the table is not what the
  ///   catalog says, and what the closure throws.
  func withStatement<Result>(
    _ shape: StatementKey, of model: SQLiteModel, _ body: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    let statement = try statement(shape, of: model)
    defer { statement.finish() }
    return try body(statement)
  }

  /// The statement that finds records of a model by their keys, where it is at hand and not in use; for reads that
  /// check it afterwards.
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

  /// Forgets which declarations the last reads and writes were for.
  func forgetModels() {
    lastModel = nil
    lastFind = nil
    models.removeAll()
  }

  private func statement(_ shape: StatementKey, of model: SQLiteModel) throws -> SQLiteStatement {
    if let lastStatement, !lastStatement.isInUse, lastStatement.shape == shape {
      lastStatement.isInUse = true
      return lastStatement
    }
    let known = statements[shape]
    if let known, !known.isInUse {
      known.isInUse = true
      lastStatement = known
      return known
    }
    let text = store.text(of: shape, on: model.table)
    let prepared: OpaquePointer
    do {
      prepared = try prepare(
        text.sql, persistent: true, "prepare a statement on the table of \(model.schema.name)")
    } catch let error as PersistenceError where error.isAboutTheText {
      throw error.unlike(model)
    }
    let made = SQLiteStatement(prepared, on: self, model: model, shape: shape)
    made.sorts = text.sorts
    made.isInUse = true
    if known == nil {
      if statements.count >= Self.statementLimit {
        lastFind = nil
        statements.removeAll()
      }
      statements[shape] = made
      lastStatement = made
    }
    return made
  }

  /// Lends one of the statements that every connection needs.
  func run(_ command: SQLiteCommand) throws { _ = try number(command) }

  /// Runs one of them where a failure changes nothing: SQLite has ended the transaction then, or will when the
  /// connection is closed.
  func runUnchecked(_ command: SQLiteCommand) {
    do {
      try run(command)
    } catch {
      store.configuration.monitoring.logger.debug("\(error)")
    }
  }

  /// Runs one of the statements that every connection needs, and gives the number that it yields; 0 for none.
  @discardableResult
  func number(_ command: SQLiteCommand) throws -> Int64 {
    let statement: SQLiteStatement
    if let known = commands[command.index] {
      statement = known
    } else {
      statement = SQLiteStatement(
        try prepare(command.rawValue, persistent: true, command.action), on: self, model: nil, shape: nil)
      commands[command.index] = statement
    }
    let code = sqlite3_step(statement.handle)
    let number = code == SQLITE_ROW ? sqlite3_column_int64(statement.handle, 0) : 0
    let failure = code == SQLITE_ROW || code == SQLITE_DONE ? nil : error(code, command.action)
    sqlite3_reset(statement.handle)
    if let failure { throw failure }
    return number
  }

  /// The lines of a plan, in SQLite's words.
  func explain(_ sql: String) throws -> [String] {
    let statement = try prepare("EXPLAIN QUERY PLAN " + sql, persistent: false, "explain a statement")
    defer { sqlite3_finalize(statement) }
    var lines: [String] = []
    while true {
      let code = sqlite3_step(statement)
      guard code == SQLITE_ROW else {
        guard code == SQLITE_DONE else { throw error(code, "explain a statement") }
        return lines
      }
      if let text = sqlite3_column_text(statement, 3) { lines.append(String(cString: text)) }
    }
  }

  /// Forgets all statements, so that the connection holds nothing of the file.
  func forgetStatements() {
    lastStatement = nil
    lastFind = nil
    statements.removeAll()
    for index in commands.indices { commands[index] = nil }
  }
}
