import CSQLite
public import PersistenceDriver

/// SQL of one's own, for what requests cannot say.
extension SQLiteContext {
  /// Runs one statement that changes the store, as a transaction of its own, in its turn among the writers.
  ///
  /// Results that are alive do not see the change, as with every write. Values come as bindings for `?1`, `?2`
  /// and so on, never in the text.
  ///
  /// - Parameters:
  ///   - sql: Exactly one statement. One that would leave a transaction open is undone and refused.
  ///   - bindings: A value for each parameter, stored as fields of its kind are.
  /// - Returns: How many rows it changed.
  /// - Throws: ``PersistenceError``: `invalidRequest` where the text is no single statement or the parameters
  ///   are others; `busy`; `readOnly`; and what SQLite refuses.
  @discardableResult
  public func execute(_ sql: String, _ bindings: [PersistentValue] = []) throws -> Int {
    try write { connection, deadline in
      let before = sqlite3_total_changes64(connection.handle)
      try connection.retryingWhileBusy(until: deadline) {
        try connection.withText(sql, bindings, "run a statement") { try $0.run() }
      }
      guard connection.isOutsideTransaction else {
        connection.rollBack()
        throw PersistenceError.invalidRequest(
          "a statement that begins a transaction cannot be run by itself; use transaction")
      }
      return Int(sqlite3_total_changes64(connection.handle) - before)
    }
  }

  /// Reads rows by one statement, from the newest state.
  ///
  /// - Parameters:
  ///   - sql: Exactly one statement that only reads.
  ///   - bindings: A value for each parameter.
  /// - Returns: All rows, each with a value for each column: whole numbers, numbers, texts, bytes and nil, as
  ///   SQLite holds them.
  /// - Throws: ``PersistenceError``: `invalidRequest` where the text is no single statement, the parameters are
  ///   others, or it would change something.
  public func rows(_ sql: String, _ bindings: [PersistentValue] = []) throws -> [[PersistentValue]] {
    try pool.withConnection { connection in
      let isReading = try connection.withText(sql, bindings, "prepare a statement") {
        sqlite3_stmt_readonly($0.handle) != 0
      }
      guard isReading else {
        throw PersistenceError.invalidRequest("the statement changes the store; use execute")
      }
      return try connection.rows(sql, bindings)
    }
  }
}
