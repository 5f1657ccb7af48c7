import PersistenceDriver

extension PersistenceError {
  /// Whether the server answered with a SQLSTATE.
  func isPostgres(_ state: String) -> Bool {
    engineError?.engine == "PostgreSQL" && engineError?.code == PostgresErrorMapping.number(of: state)
  }

  /// Whether the server refuses what no order of the transactions would give, or ends a deadlock.
  var isConflict: Bool { isPostgres("40001") || isPostgres("40P01") }

  /// Whether the connection broke, so that another one may succeed.
  var isLostConnection: Bool { code == .unreachable }

  /// Whether the server itself answered.
  var isAnswer: Bool { engineError?.engine == "PostgreSQL" }

  /// The error of a transaction that writes: one that the server ended while it was idle has lost its connection.
  var ofWriting: PersistenceError {
    guard isPostgres("25P03") else { return self }
    var error = self
    error.code = .unreachable
    error.message =
      "the server ended the transaction because it was idle for too long, and rolled it back; retry, and wait for nothing "
      + "inside the transaction"
    return error
  }

  /// The error of a read, which conflicts only with the changes that a standby replays.
  var ofReading: PersistenceError {
    guard isPostgres("40001") else { return self }
    var error = self
    error.code = .snapshotExpired
    error.message =
      "the standby ended a read that was in the way of changes it had to replay; fetch again, or raise the server's "
      + "max_standby_streaming_delay"
    return error
  }

  /// The error of a replayable transaction that met conflicts until its time was over.
  func ofLastConflict(waited: Duration) -> PersistenceError {
    var error = self
    error.code = .busy
    error.message =
      "the transaction conflicted with others for the busy time-out of \(waited), and was rolled back; retry, or raise "
      + "the time-out"
    return error
  }

  /// The error of a transaction that waited in vain for the writers' gate.
  func ofGate(_ store: PostgresStore) -> PersistenceError {
    var error = PersistenceError.busy(store.location, waited: store.configuration.busyTimeout)
    error.engineError = engineError
    return error
  }

  /// The error of a commit whose answer never came.
  var ofUnansweredCommit: PersistenceError {
    var error = self
    error.code = .outcomeUnknown
    error.message =
      "the connection broke before PostgreSQL answered the commit, so the store may or may not hold the transaction; "
      + "read what it holds, or repeat the transaction if it may run twice"
    return error
  }
}
