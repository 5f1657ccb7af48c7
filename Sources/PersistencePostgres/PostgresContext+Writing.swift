public import PersistenceDriver
import PersistenceDriverSupport

extension PostgresContext {
  /// Runs a closure in a transaction, which excludes all other writers of the store.
  public func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    guard !capabilities.isReadOnly else { throw PersistenceError.readOnly(location) }
    if store.isForeign { return try foreignTransaction(body) }
    let deadline = ContinuousClock.now + store.configuration.busyTimeout
    try shared.gate.withEntry(timeout: store.configuration.busyTimeout, location: location) {
      guard !pool.isClosed else { throw PersistenceError.closed("the store at \(location)") }
      let session = try beginWriting(until: deadline)
      defer { pool.giveBack(session.connection) }
      let transaction = PostgresTransaction(session, waitingUntil: deadline)
      let observed = observers.begin(transaction)
      do {
        try body(observed.transaction)
        try transaction.end()
      } catch {
        transaction.abandon()
        session.end()
        throw error
      }
      try observers.commit(observed) {
        try shared.commits.committing { try commit(session) }
      }
      if transaction.hasDropped { removeDropped() }
    }
    monitor.reportLongHeldResults()
  }

  /// Begins a transaction, and waits for writers in other processes until the deadline.
  private func beginWriting(until deadline: ContinuousClock.Instant) throws -> PostgresSession {
    var isRepeated = false
    while true {
      let connection = try pool.take()
      do {
        return try begin(connection, until: deadline)
      } catch let error as PersistenceError where error.isLostConnection && !isRepeated {
        // A restart of the server breaks idle connections, before the transaction has begun.
        isRepeated = true
        pool.discardIdle()
      } catch {
        end(connection)
        throw error
      }
    }
  }

  private func begin(_ connection: PostgresConnection, until deadline: ContinuousClock.Instant) throws
    -> PostgresSession
  {
    let results: [PostgresResult]
    do {
      // The lock comes before the first query, so that the transaction sees all earlier ones.
      results = try connection.run(
        [
          PostgresCommand("BEGIN ISOLATION LEVEL REPEATABLE READ"), .lockTimeout(deadline - .now),
          PostgresCommand("LOCK TABLE \(store.own("gate")) IN SHARE ROW EXCLUSIVE MODE"),
          PostgresCommand("SELECT version FROM \(store.own("state"))"),
        ], "begin a transaction")
    } catch let error as PersistenceError where error.isPostgres("55P03") {
      var busy = PersistenceError.busy(location, waited: store.configuration.busyTimeout)
      busy.engineError = error.engineError
      throw busy
    } catch let error as PersistenceError {
      throw error.ofMissingStore(location)
    }
    var catalog = store.catalog
    if catalog == nil || results.last?.integer(0, 0) != catalog?.version {
      let read = try connection.run(store.catalogCommands, "read the catalog")
      catalog = try store.catalog(read[...])
      store.catalog = catalog
    }
    guard let catalog else { throw PersistenceError.closed("the store at \(location)") }
    let session = PostgresSession(.writing, connection, catalog, opening: [])
    session.begun()
    return session
  }

  func end(_ connection: PostgresConnection) {
    do {
      try connection.post([PostgresCommand("ROLLBACK")], "end a transaction")
    } catch {
      connection.abandon()
    }
    pool.giveBack(connection)
  }

  /// Commits, and returns the transaction's number; nil if it has written nothing.
  private func commit(_ session: PostgresSession) throws -> String? {
    let purge = Int.random(in: 0..<256) == 0 ? [PostgresCommits.purge(store)] : []
    return try commit(session, after: purge + [PostgresCommits.log(store)])
  }

  /// Commits after some statements, of which the last one reads the transaction's number.
  func commit(_ session: PostgresSession, after commands: [PostgresCommand]) throws -> String? {
    guard session.hasWritten else {
      session.end()
      return nil
    }
    guard !session.connection.isBroken else {
      throw PersistenceError(
        .unreachable, "the connection broke before the commit, so the transaction was rolled back; retry",
        location: location)
    }
    var number: String?
    do {
      let answer = try session.connection.commit(after: session.takeQueue() + commands) {
        number = $0.last?.text(0, 0)
      }
      // The commit of a failed transaction succeeds, and rolls it back.
      guard answer?.tag == "COMMIT" else {
        throw PersistenceError(
          .engineFailure, "PostgreSQL rolled the transaction back instead of committing it; retry",
          location: location)
      }
    } catch let error as UnansweredCommit {
      try settle(number, session.connection.serverRun, error.reason)
    } catch let error as PersistenceError {
      if !session.connection.isBroken { session.end() }
      throw error.ofWriting
    }
    store.catalog = session.catalog
    return number
  }

  /// Finds out whether a transaction was committed whose connection broke meanwhile; throws unless it was.
  private func settle(_ number: String?, _ run: String?, _ error: PersistenceError) throws {
    pool.discardIdle()
    guard let number, let connection = try? pool.take() else { throw error.ofUnansweredCommit }
    let outcome = (try? connection.outcome(of: number, begunIn: run)) ?? nil
    pool.giveBack(connection)
    switch outcome {
    case true?: return
    case false?:
      var error = error
      error.code = .unreachable
      error.message =
        "the connection broke during the commit, and PostgreSQL rolled the transaction back; retry"
      throw error
    case nil: throw error.ofUnansweredCommit
    }
  }
}
