extension PostgresConnection {
  /// Sends statements as a transaction that sees one moment and cannot write, and reads their results.
  func runReading(_ commands: [PostgresCommand], _ action: String) throws -> ArraySlice<PostgresResult> {
    let begin = PostgresCommand("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    do {
      return try run([begin] + commands + [PostgresCommand("COMMIT")], action).dropFirst().dropLast()
    } catch {
      try? post([PostgresCommand("ROLLBACK")], "end a transaction")
      throw error
    }
  }
}
