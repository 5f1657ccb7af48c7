public import PersistenceDriver
import PersistenceDriverSupport

extension PostgresContext {
  /// Runs a closure in a transaction.
  ///
  /// An exclusive transaction runs once, as the only writer of the store. Replayable ones run at the same time, and again
  /// after a conflict, until the busy time-out has passed.
  public func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    guard !capabilities.isReadOnly else { throw PersistenceError.readOnly(location) }
    let timeout = store.configuration.busyTimeout
    let deadline = ContinuousClock.now + timeout
    switch mode {
    case .exclusive: try enter(.exclusive, timeout: timeout, until: deadline, body)
    case .replayable: try replay(timeout: timeout, until: deadline, body)
    }
    monitor.reportLongHeldResults()
  }

  /// Runs a closure beside others until it meets no conflict, or alone if it changes tables.
  private func replay(
    timeout: Duration, until deadline: ContinuousClock.Instant,
    _ body: (any StorageTransaction) throws -> Void
  ) throws {
    var (timeout, replay) = (timeout, PostgresReplay(until: deadline))
    var isDeferred = true
    while true {
      do {
        return try enter(.replayable, isDeferred: isDeferred, timeout: timeout, until: deadline, body)
      } catch PostgresConflict.alone {
        return try enter(.exclusive, timeout: max(.zero, deadline - .now), until: deadline, body)
      } catch PostgresConflict.again(let error) {
        guard replay.pause() else { throw error.ofLastConflict(waited: store.configuration.busyTimeout) }
        timeout = max(.zero, deadline - .now)
      } catch PostgresConflict.stepByStep {
        isDeferred = false
        timeout = max(.zero, deadline - .now)
      }
    }
  }

  /// Runs a closure once, when the gate of this process admits it.
  private func enter(
    _ mode: TransactionMode, isDeferred: Bool = false, timeout: Duration,
    until deadline: ContinuousClock.Instant, _ body: (any StorageTransaction) throws -> Void
  ) throws {
    // Observers of another program's tables hear of commits in their order, so writers take turns.
    if mode == .exclusive || store.isForeign {
      try shared.gate.withEntry(timeout: timeout, location: location) { try run(mode, until: deadline, body) }
    } else {
      try shared.gate.withSharedEntry(timeout: timeout, location: location) {
        try run(mode, isDeferred: isDeferred, until: deadline, body)
      }
    }
  }

  /// Runs a closure once; throws ``PostgresConflict`` if it is replayable and has to run again.
  private func run(
    _ mode: TransactionMode, isDeferred: Bool = false, until deadline: ContinuousClock.Instant,
    _ body: (any StorageTransaction) throws -> Void
  ) throws {
    guard !pool.isClosed else { throw PersistenceError.closed("the store at \(location)") }
    let deferred = isDeferred ? try deferredSession(until: deadline) : nil
    let session = try deferred ?? beginWriting(mode, until: deadline)
    defer { pool.giveBack(session.connection) }
    let transaction: any PostgresWriter =
      store.isForeign
      ? PostgresForeignTransaction(session) : PostgresTransaction(session, waitingUntil: deadline)
    let observed = observers.begin(transaction)
    do {
      try body(observed.transaction)
      try transaction.end()
      // What the closure did without a statement relied on the cached catalog. A connection that was idle for long may be
      // broken.
      if !session.hasWritten || !session.connection.isFresh { try session.sendBegin() }
    } catch {
      transaction.abandon()
      // A stale catalog may have caused the error.
      try? session.sendBegin()
      session.end()
      // The closure may have read records that a standby does not show yet.
      replicas?.standbys?.doubt()
      throw session.conflict ?? error
    }
    do {
      if store.isForeign {
        if session.catalog.hasSideEffects { observed.mayHaveChangedMore() }
        try observers.commit(observed) { try commitForeign(session) }
      } else {
        try observers.commit(observed) { try commit(session, $0) }
      }
    } catch {
      throw session.conflict ?? error
    }
    if transaction.hasDropped { removeDropped() }
  }

  /// Begins a transaction, and waits for writers in other processes until the deadline.
  private func beginWriting(_ mode: TransactionMode, until deadline: ContinuousClock.Instant) throws
    -> PostgresSession
  {
    var isRepeated = false
    while true {
      let connection = try pool.take()
      do {
        return try begin(mode, connection, until: deadline)
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

  private func begin(
    _ mode: TransactionMode, _ connection: PostgresConnection, until deadline: ContinuousClock.Instant
  ) throws -> PostgresSession {
    let results: [PostgresResult]
    do {
      results = try connection.run(opening(mode, until: deadline), "begin a transaction")
    } catch let error as PersistenceError where error.isPostgres("55P03") {
      throw error.ofGate(store)
    } catch let error as PersistenceError where !store.isForeign {
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
    session.begun(mode)
    return session
  }

  /// A session for a replayable transaction that begins with its first statement which needs an answer, or with its commit;
  /// nil if the catalog is not known.
  private func deferredSession(until deadline: ContinuousClock.Instant) throws -> PostgresSession? {
    guard !store.isForeign, let catalog = store.catalog, store.canGuard(catalog.version) else { return nil }
    let busyTimeout = store.configuration.busyTimeout
    let left = deadline - .now
    var opening = store.openingOfReplayable(ifNewest: catalog.version)
    if left * 1.1 <= busyTimeout { opening[1] = .lockTimeout(max(.zero, left)) }
    return .deferred(try pool.take(), catalog, opening: opening)
  }

  /// The statements that begin a transaction, and read the version of the catalog.
  ///
  /// The lock comes before the first query, so that the transaction sees all that an excluded writer has committed.
  /// An exclusive transaction needs no SERIALIZABLE: what it reads cannot change until it ends, since nobody else writes.
  private func opening(_ mode: TransactionMode, until deadline: ContinuousClock.Instant) -> [PostgresCommand]
  {
    let timeout = PostgresCommand.lockTimeout(deadline - .now)
    let serializable = PostgresCommand("BEGIN ISOLATION LEVEL SERIALIZABLE")
    if store.isForeign {
      // Other programs know of no gate.
      return [serializable, timeout, store.versionQueries.version]
    }
    let (begin, lock) =
      switch mode {
      case .exclusive: (PostgresCommand("BEGIN ISOLATION LEVEL REPEATABLE READ"), "SHARE ROW EXCLUSIVE")
      case .replayable: (serializable, "ROW EXCLUSIVE")
      }
    return [
      begin, timeout, PostgresCommand("LOCK TABLE \(store.own("gate")) IN \(lock) MODE"),
      PostgresCommand("SELECT version FROM \(store.own("state"))"),
    ]
  }

  func end(_ connection: PostgresConnection) {
    do {
      try connection.post([.rollback], "end a transaction")
    } catch {
      connection.abandon()
    }
    pool.giveBack(connection)
  }
}
