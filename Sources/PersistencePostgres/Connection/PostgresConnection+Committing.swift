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
    after commands: [PostgresCommand], then query: PostgresCommand?, _ body: ([PostgresResult]) -> Void
  ) throws -> (commit: PostgresResult?, query: PostgresResult?) {
    let (action, deadline) = (
      "commit a transaction", store.configuration.statementTimeout.map { ContinuousClock.now + $0 }
    )
    let wait = Wait(deadline: deadline, isReading: false, cancels: false, action: action)
    let places = try send(commands, action, deadline)
    // The server does not commit after a statement that it has refused.
    var refusal: PersistenceError?
    do {
      let last = try send([PostgresCommand("COMMIT", prepared: -5)], action, deadline)
      let next = try query.map { try send([$0], action, deadline) }
      let sent = next == nil ? 2 : 3
      while unread > sent { try skipBatch(wait) }
      do {
        body(try readBatch(places, wait))
      } catch let error as PersistenceError where error.isAnswer {
        refusal = error
      }
      let answers = try readBatch(last, wait)
      if let refusal { throw refusal }
      // The commit has succeeded, and its caller waits for nothing else.
      let short = Wait(deadline: .now + .seconds(1), isReading: false, cancels: false, action: action)
      return (answers.last, next.flatMap { try? readBatch($0, short) }?.last)
    } catch let error as PersistenceError {
      if let refusal { throw refusal }
      guard isBroken else { throw error }
      throw UnansweredCommit(reason: error)
    }
  }
}
