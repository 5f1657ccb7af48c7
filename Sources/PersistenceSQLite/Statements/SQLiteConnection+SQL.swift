import CSQLite
import Logging
import PersistenceDriver

/// Statements that have a text rather than a statement key: the catalog's and the user's own.
extension SQLiteConnection {
  /// Runs a statement and returns its rows, with integers, doubles, texts, bytes and nil as SQLite stores them.
  func rows(_ sql: String, _ bindings: [PersistentValue] = []) throws -> [[PersistentValue]] {
    try withText(sql, bindings, "run a statement") { statement in
      let count = sqlite3_column_count(statement.handle)
      var rows: [[PersistentValue]] = []
      while try statement.step() {
        rows.append((0..<count).map { Self.value(SQLiteValue(statement.handle, column: Int($0))) })
      }
      return rows
    }
  }

  /// Calls a closure with the prepared statement of a text.
  func withText<Result>(
    _ sql: String, _ bindings: [PersistentValue], _ action: String, _ body: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    let statement = SQLiteStatement(
      try prepare(sql, persistent: false, action), on: self, model: nil, key: nil)
    guard Int(sqlite3_bind_parameter_count(statement.handle)) == bindings.count else {
      throw PersistenceError.invalidRequest(
        "the statement has \(sqlite3_bind_parameter_count(statement.handle)) parameters, but got "
          + "\(bindings.count) values")
    }
    for (index, value) in bindings.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    return try body(statement)
  }

  private static func value(_ source: SQLiteValue) -> PersistentValue {
    switch source.type {
    case SQLITE_INTEGER: .integer(source.integer)
    case SQLITE_FLOAT: .double(source.double)
    case SQLITE_TEXT: .text(String(decoding: source.text, as: UTF8.self))
    case SQLITE_BLOB: .bytes([UInt8](source.blob))
    default: .null
    }
  }

  func run(_ command: SQLiteCommand) throws { _ = try number(command) }

  /// Runs a command whose failure is harmless: SQLite has ended the transaction, or will on closing the connection.
  func runUnchecked(_ command: SQLiteCommand) {
    do {
      try run(command)
    } catch {
      store.configuration.monitoring.logger.debug("\(error)")
    }
  }

  /// Runs statements of this package that have no parameters and no results.
  func execute(_ sql: String, _ action: String) throws {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code, action) }
  }

  /// The lines of SQLite's query plan.
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
}
