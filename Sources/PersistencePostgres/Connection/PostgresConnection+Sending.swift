import CPostgres

/// Single statements; each returns libpq's code, which is 0 for a failure.
extension PostgresConnection {
  /// The name under which a connection prepares a statement.
  static func name(_ number: Int) -> String { "persistence_\(number)" }

  func prepare(_ command: PostgresCommand, as name: String) -> Int32 {
    command.parameters.withArguments { types, _, _, _ in
      PQsendPrepare(handle, name, command.sql, Int32(command.parameters.count), types)
    }
  }

  func send(_ command: PostgresCommand, preparedAs name: String?) -> Int32 {
    let count = Int32(command.parameters.count)
    return command.parameters.withArguments { types, values, lengths, formats in
      guard let name else {
        return PQsendQueryParams(handle, command.sql, count, types, values, lengths, formats, 1)
      }
      // Passed as a String, it would be copied to the heap.
      return name.withCString { PQsendQueryPrepared(handle, $0, count, values, lengths, formats, 1) }
    }
  }
}
