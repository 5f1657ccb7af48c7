import PersistenceDriver
import PersistenceDriverSupport

extension PostgresContext {
  /// Runs a closure in a transaction on tables of other programs.
  ///
  /// Transactions of this process take turns. Those of other processes run at the same time: one that conflicts with them
  /// throws `busy`, and is rolled back.
  func foreignTransaction(_ body: (any StorageTransaction) throws -> Void) throws {
    let deadline = ContinuousClock.now + store.configuration.busyTimeout
    try shared.gate.withEntry(timeout: store.configuration.busyTimeout, location: location) {
      guard !pool.isClosed else { throw PersistenceError.closed("the store at \(location)") }
      let session = try beginForeign(until: deadline)
      defer { pool.giveBack(session.connection) }
      let transaction = PostgresForeignTransaction(session)
      let observed = observers.begin(transaction)
      do {
        try body(observed.transaction)
        try transaction.end()
      } catch {
        transaction.abandon()
        session.end()
        throw error
      }
      if session.catalog.hasSideEffects { observed.mayHaveChangedMore() }
      try observers.commit(observed) { try commitForeign(session) }
    }
    monitor.reportLongHeldResults()
  }

  private func beginForeign(until deadline: ContinuousClock.Instant) throws -> PostgresSession {
    var isRepeated = false
    while true {
      let connection = try pool.take()
      do {
        let results = try connection.run(
          [
            PostgresCommand("BEGIN ISOLATION LEVEL SERIALIZABLE"), .lockTimeout(deadline - .now),
            PostgresCommand("SELECT version FROM \(store.state)", prepared: -10),
          ], "begin a transaction")
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

  private func commitForeign(_ session: PostgresSession) throws {
    let read = PostgresCommand(
      "SELECT pg_catalog.pg_current_xact_id_if_assigned()::text", prepared: -11)
    _ = try commit(session, after: [read])
  }
}
