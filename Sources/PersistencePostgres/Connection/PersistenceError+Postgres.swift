import PersistenceDriver

extension PersistenceError {
  /// Whether the server answered with a SQLSTATE.
  func isPostgres(_ state: String) -> Bool {
    engineError?.engine == "PostgreSQL" && engineError?.code == PostgresErrorMapping.number(of: state)
  }

  /// Whether the connection broke, so that another one may succeed.
  var isLostConnection: Bool { code == .unreachable }

  /// The error of a commit whose answer never came.
  var ofUnansweredCommit: PersistenceError {
    guard isLostConnection || code == .timedOut else { return self }
    var error = self
    error.code = .outcomeUnknown
    error.message =
      "the connection broke before PostgreSQL answered the commit, so the store may or may not hold the transaction; "
      + "read what it holds, or repeat the transaction if it may run twice"
    return error
  }
}
