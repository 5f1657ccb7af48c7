import PersistenceDriver
import PersistenceDriverSupport

extension PostgresContext {
  /// Commits, and returns whether the transaction has written anything; passes its number to the observers.
  func commit(_ session: PostgresSession, _ registration: CommitRegistration) throws -> Bool {
    guard try commitByTurn(session, registration) else { return false }
    if store.beginsPurge() {
      // It reads all numbers, so as a part of a serializable transaction it would conflict with all others.
      try? session.connection.post([PostgresCommits.purge(store)], "remove old numbers of commits")
    }
    return true
  }

  /// Commits alone or, if many transactions are about to commit, as one with others.
  private func commitByTurn(_ session: PostgresSession, _ registration: CommitRegistration) throws -> Bool {
    // Each read on a standby waits for the position of a commit, which only the thread that commits learns.
    guard replicas == nil, session.canShareCommit else { return try commitAlone(session, registration) }
    let turn = commitGroups.enter {
      PostgresCommitGroups.Member(session.waiting, at: session.firstVersion, registration)
    }
    switch turn {
    case .alone:
      try requireLiveConnection(session)
      return try commitAlone(session, registration)
    case .committed: return true
    case .failed(let error): throw error
    case .first(let others):
      var hasFailed = !others.isEmpty
      defer { commitGroups.leave(afterFailure: hasFailed) }
      if !others.isEmpty, try commit(session, registration, with: others) {
        hasFailed = false
        return true
      }
      return try commitAlone(session, registration)
    }
  }

  /// Throws, so that the closure runs again by another connection, if this one has broken while its thread waited.
  private func requireLiveConnection(_ session: PostgresSession) throws {
    guard !session.connection.isAlive() else { return }
    session.connection.abandon()
    session.conflict = session.conflict ?? .stepByStep
    throw PersistenceError(
      .unreachable, "the connection broke before the commit; retry", location: location)
  }

  /// Commits a transaction as one with others, whose threads wait; returns false if all were rolled back, and each has to be
  /// committed alone.
  ///
  /// - Throws: ``PersistenceError`` if nobody knows the outcome, or this connection is broken.
  private func commit(
    _ session: PostgresSession, _ registration: CommitRegistration,
    with others: [PostgresCommitGroups.Member]
  ) throws -> Bool {
    let connection = session.connection
    do {
      // Whoever sends a commit by a broken connection does not learn the outcome.
      try requireLiveConnection(session)
    } catch {
      commitGroups.end(others, .alone)
      throw error
    }
    let registrations = [registration] + others.map { $0.registration }
    let isObserved = observers.isObserved
    var batch = store.openingOfReplayable(ifNewest: session.firstVersion)
    // A record that somebody has locked must not delay the others. Alone, its writer waits for as long as it may.
    batch[1] = .lockTimeoutOfGroup
    batch.append(contentsOf: session.waiting.commands)
    for other in others { batch.append(contentsOf: other.commands) }
    batch.append(PostgresCommits.log(store, withMoment: isObserved, mayBeRefused: true))
    var number: UInt64?
    var broken: PersistenceError?
    do {
      let answers = try connection.commit(after: consume batch, then: nil) {
        guard let last = $0.last else { return }
        number = last.transactionNumber(0, 0)
        guard isObserved, let found = number, let moment = last.bytes(0, 1),
          let transaction = try? NumberedTransaction(found, moment: moment)
        else { return }
        CommitRegistration.register(registrations, of: transaction)
      }
      // The commit of a failed transaction succeeds, and rolls it back.
      if answers.commit?.tag == "COMMIT" {
        commitGroups.end(others, .committed)
        return true
      }
    } catch let error as UnansweredCommit {
      do {
        try settle(number, connection.serverRun, error.reason)
        commitGroups.end(others, .committed)
        return true
      } catch let error as PersistenceError where error.code != .outcomeUnknown {
        broken = error
      } catch {
        // If the number appears later, it is one of an unknown origin.
        CommitRegistration.withdraw(registrations)
        commitGroups.end(others, .failed(error))
        throw error
      }
    } catch {
      broken = error as? PersistenceError
      if !connection.isBroken { rollBack(connection) }
    }
    CommitRegistration.withdraw(registrations)
    commitGroups.end(others, .alone)
    guard connection.isBroken else { return false }
    // Nothing was committed, so the closure may run again by another connection.
    session.conflict = session.conflict ?? .stepByStep
    throw broken
      ?? PersistenceError(.unreachable, "the connection broke before the commit; retry", location: location)
  }

  private func rollBack(_ connection: PostgresConnection) {
    do {
      try connection.post([.rollback], "end a transaction")
    } catch {
      connection.abandon()
    }
  }

  private func commitAlone(_ session: PostgresSession, _ registration: CommitRegistration) throws -> Bool {
    let isObserved = observers.isObserved
    let log = PostgresCommits.log(store, withMoment: isObserved, mayBeRefused: session.isDeferred)
    return try commit(session, after: log) { number, logged in
      // Asked for a column that a result lacks, libpq composes a notice, which takes 3 µs.
      guard isObserved, let number, let moment = logged.bytes(0, 1) else { return }
      // The commit is on its way. Without its number, observers take it for another process's, and read again.
      if let transaction = try? NumberedTransaction(number, moment: moment) { registration(transaction) }
    }
  }

  func commitForeign(_ session: PostgresSession) throws {
    let read = PostgresCommand("SELECT pg_catalog.pg_current_xact_id_if_assigned()", prepared: -11)
    _ = try commit(session, after: read) { _, _ in }
  }

  /// Commits after a statement that reads the transaction's number; passes the number and the result to a closure as soon
  /// as they are there, and returns whether the transaction has written anything.
  private func commit(
    _ session: PostgresSession, after read: PostgresCommand,
    _ body: (_ number: UInt64?, PostgresResult) -> Void
  ) throws -> Bool {
    let standbys = replicas?.standbys
    var end: PostgresResult?
    // Without an end, also after an error: the closure may have read records that a standby does not show yet. A doubt
    // before the outcome is known could be settled by another thread with a position before the commit.
    defer { standbys?.note(end) }
    guard session.hasWritten else {
      try endReading(session)
      return false
    }
    guard !session.connection.isBroken else {
      throw PersistenceError(
        .unreachable, "the connection broke before the commit, so the transaction was rolled back; retry",
        location: location)
    }
    var number: UInt64?
    var batch = session.takeOpening()
    let beginning = batch.count
    // Two more may follow the writes, and the commit.
    batch.reserveCapacity(beginning + session.waiting.commands.count + 3)
    batch.append(contentsOf: session.takeQueue())
    if session.catalog.version != session.firstVersion {
      let table = PostgresVersionTable(session.firstVersion, store)
      batch.append(table.renaming(to: session.catalog.version))
    }
    batch.append(read)
    let ahead = batch.count
    do {
      let position = standbys == nil ? nil : PostgresPosition.ofPrimary
      let answers = try session.connection.commit(after: consume batch, then: position) {
        guard let last = $0.last else { return }
        number = last.transactionNumber(0, 0)
        body(number, last)
      }
      // The commit of a failed transaction succeeds, and rolls it back.
      guard answers.commit?.tag == "COMMIT" else {
        throw PersistenceError(
          .engineFailure, "PostgreSQL rolled the transaction back instead of committing it; retry",
          location: location)
      }
      end = answers.query
    } catch let error as UnansweredCommit {
      try settle(number, session.connection.serverRun, error.reason)
    } catch let error as PersistenceError {
      if !session.connection.isBroken { session.end() }
      throw session.notingFailure(error.ofWriting, beginning: beginning, ahead: ahead)
    }
    // An exclusive writer may have changed the catalog since a replayable transaction ended.
    if !session.isReplayable { store.catalog = session.catalog }
    return true
  }

  /// Ends a transaction that has written nothing.
  ///
  /// A rollback would ignore that the server has refused what a serializable one has read, and would forget it: another
  /// transaction could commit what this one should have seen.
  private func endReading(_ session: PostgresSession) throws {
    guard session.isReplayable || store.isForeign else { return session.end() }
    do {
      _ = try session.connection.run([.commit], "commit a transaction")
    } catch {
      throw session.failed(error)
    }
  }

  /// Finds out whether a transaction was committed whose connection broke meanwhile; throws unless it was.
  private func settle(_ number: UInt64?, _ run: String?, _ error: PersistenceError) throws {
    pool.discardIdle()
    guard let number, let connection = try? pool.take() else { throw error.ofUnansweredCommit }
    let outcome = (try? connection.outcome(of: String(number), begunIn: run)) ?? nil
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
