import CSQLite
public import PersistenceDriver

/// Your own SQL, for what requests cannot express.
extension SQLiteContext {
  /// Runs one statement that changes the store, in a transaction of its own.
  ///
  /// It waits for its turn among the writers, and existing results do not see the change, as with every write. Pass
  /// values as bindings for `?1`, `?2` and so on, never in the text.
  ///
  /// - Parameters:
  ///   - sql: Exactly one statement. A statement that leaves a transaction open is rolled back and rejected.
  ///   - bindings: A value for each parameter, stored like a field of its kind.
  /// - Returns: How many rows it changed.
  /// - Throws: ``PersistenceError``: `invalidRequest` if the text is not exactly one statement, or the number of
  ///   parameters is wrong; `busy`; `readOnly`; and SQLite's own errors.
  @discardableResult
  public func execute(_ sql: String, _ bindings: [PersistentValue] = []) throws -> Int {
    try write { connection, deadline in
      try connection.requireInPlace()
      let before = sqlite3_total_changes64(connection.handle)
      try connection.retryingWhileBusy(until: deadline) {
        do {
          try connection.withText(sql, bindings, "run a statement") { try $0.run() }
        } catch let error as PersistenceError {
          throw error.ofCommit
        }
      }
      try connection.lookForTemporaryTriggers(after: sql)
      guard connection.isOutsideTransaction else {
        connection.rollBack()
        throw PersistenceError.invalidRequest(
          "cannot run a statement that begins a transaction; use transaction(_:)")
      }
      return Int(sqlite3_total_changes64(connection.handle) - before)
    }
  }

  /// Reads rows by one statement, from the newest state.
  ///
  /// Any statement but SELECT, VALUES and WITH, such as a pragma, has a connection of its own: what it attaches or sets
  /// ends with it, and costs the opening of a connection.
  ///
  /// - Parameters:
  ///   - sql: Exactly one statement that only reads.
  ///   - bindings: A value for each parameter.
  /// - Returns: All rows, each with a value for each column: integers, doubles, texts, bytes and nil, as SQLite stores
  ///   them.
  /// - Throws: ``PersistenceError``: `invalidRequest` if the text is not exactly one statement, the number of
  ///   parameters is wrong, or the statement changes the store.
  public func rows(_ sql: String, _ bindings: [PersistentValue] = []) throws -> [[PersistentValue]] {
    func read(_ connection: SQLiteConnection) throws -> [[PersistentValue]] {
      let isReading = try connection.withText(sql, bindings, "prepare a statement") {
        sqlite3_stmt_readonly($0.handle) != 0
      }
      guard isReading else {
        throw PersistenceError.invalidRequest("the statement changes the store; use execute(_:_:)")
      }
      return try connection.rows(sql, bindings)
    }
    let isQuery = ["SELECT", "VALUES", "WITH"].contains(SQLiteText(sql).firstWord)
    return try isQuery ? pool.withConnection(read) : pool.withConnectionOfItsOwn(read)
  }
}

extension SQLiteConnection {
  /// Updates ``hasTemporaryTriggers`` after a statement of the app.
  fileprivate func lookForTemporaryTriggers(after sql: String) throws {
    guard ["CREATE", "DROP"].contains(SQLiteText(sql).firstWord) else { return }
    hasTemporaryTriggers = try !rows(
      "SELECT 1 FROM temp.sqlite_schema WHERE type = 'trigger' LIMIT 1"
    ).isEmpty
  }
}
