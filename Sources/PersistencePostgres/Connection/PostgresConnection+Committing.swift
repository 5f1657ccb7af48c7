import PersistenceDriver

/// A commit was sent, and the connection broke before the server told its outcome.
struct UnansweredCommit: Error {
  let reason: PersistenceError
}

extension PostgresConnection {
  /// Sends statements and a commit at once, and calls a closure with the results of the statements before it waits for the
  /// commit, which it never cancels.
  ///
  /// - Returns: The answers to the commit, and to a query that follows it at once; nil for one that fails or is not
  ///   answered within a second.
  /// - Throws: ``UnansweredCommit``, or the ``PersistenceError`` of a transaction that was certainly rolled back.
  func commit(
    after commands: consuming [PostgresCommand], then query: PostgresCommand?,
    _ body: ([PostgresResult]) -> Void
  ) throws -> (commit: PostgresResult?, query: PostgresResult?) {
    let (action, deadline) = (
      "commit a transaction", store.configuration.statementTimeout.map { ContinuousClock.now + $0 }
    )
    let wait = Wait(deadline: deadline, isReading: false, cancels: false, action: action)
    let count = commands.count
    commands.append(.commit)
    let places = try send(commands, action, deadline, flushingAfter: count)
    var areAnswered = false
    do {
      let next = try query.map { try send([$0], action, deadline) }
      while unread > (next == nil ? 1 : 2) { try skipBatch(wait) }
      let answers = try readBatch(places, wait) { results in
        guard results.count == count else { return }
        areAnswered = true
        body(results)
      }
      // The commit has succeeded, and its caller waits for nothing else.
      let short = Wait(deadline: .now + .seconds(1), isReading: false, cancels: false, action: action)
      return (answers.last, next.flatMap { try? readBatch($0, short) }?.last)
    } catch let error as PersistenceError {
      // The server does not commit after a statement that it has refused.
      guard isBroken, areAnswered || !error.isAnswer else { throw error }
      throw UnansweredCommit(reason: error)
    }
  }
}
