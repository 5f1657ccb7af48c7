import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// Where a context reads: connections to the primary server or to standbys, and the moments that they hold.
final class PostgresSource: Sendable {
  let store: PostgresStore
  let pool: PostgresPool
  /// The rules for reading from standbys; nil for connections to the primary server.
  let standbys: PostgresStandbys?
  private let pins: PostgresPins

  private init(_ store: PostgresStore, of standbys: PostgresStandbys?) {
    self.store = store
    self.standbys = standbys
    pool = PostgresPool(store)
    pins = PostgresPins(pool, store)
  }

  /// Connections to the server that takes the writes.
  convenience init(_ address: PostgresAddress, _ configuration: PostgresConfiguration) {
    self.init(PostgresStore(address, configuration), of: nil)
  }

  /// Connections to the standbys of the primary server; nil unless the configuration chooses them.
  static func ofStandbys(beside primary: PostgresSource, _ url: StoreURL) throws -> PostgresSource? {
    var configuration = primary.store.configuration
    guard configuration.readers == .replica else { return nil }
    guard configuration.pooler == .session else {
      throw PersistenceError(
        .invalidURL,
        "a pooler may give each transaction another standby; remove the option readers=replica or pooler=transaction",
        location: "\(url)")
    }
    // A read that finds no standby goes to the primary server, and should not wait for long before.
    configuration.connectTimeout = min(configuration.connectTimeout, .seconds(2))
    let standbys = PostgresStandbys(primary.pool)
    return PostgresSource(
      PostgresStore(try primary.store.address.ofStandbys(), configuration), of: standbys)
  }
}

/// Reads of one call.
extension PostgresSource {
  func withSession<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
    try withNewSession { session in
      let result = try body(session)
      try session.verify()
      release(session)
      return result
    }
  }

  /// Fills a row with a record, by one statement outside a transaction where the cached catalog is the newest one; returns
  /// the result with the row's values, and nil if there is no record.
  func find(_ key: RecordKey, in schema: ModelSchema, filling row: RowBuffer) throws -> PostgresResult? {
    if let found = try findNewest(key, in: schema, row) { return found.count > 0 ? found : nil }
    return try withSession { try $0.find(key, in: schema, filling: row) }
  }

  /// How many rows a request has, counted by one statement outside a transaction where the cached catalog is the newest one.
  func count(_ request: FetchRequest) throws -> Int {
    if let counted = try countNewest(request) { return counted }
    return try withSession { session in
      guard let model = try session.model(for: request.schema) else { return 0 }
      return try session.count(request, of: model)
    }
  }

  /// Fills a row with a record; nil if the catalog may be stale, or the statement fails.
  private func findNewest(_ key: RecordKey, in schema: ModelSchema, _ row: RowBuffer) throws
    -> PostgresResult?
  {
    // A transaction keeps the functions of another program's view from writing.
    guard let (model, version) = cachedModel(for: schema), !model.isView else { return nil }
    let parameters = PostgresParameters.key(key, isForeign: model.foreign != nil)
    let isGuarded = store.canGuard(version)
    let text =
      isGuarded
      ? store.findText(for: model, ifNewest: version) : store.text(of: model.key(.find), on: model.table)
    let query = PostgresCommand(text.sql, prepared: text.number, parameters)
    guard let found = try answer(to: query, at: version, isGuarded: isGuarded, model.findAction)
    else { return nil }
    if found.count > 0 {
      do {
        try found.fill(row, row: 0, model.columns)
      } catch let error as PersistenceError {
        throw error.at(model: schema.name, key: key, location: store.location)
      }
    }
    return found
  }

  /// Ends a session, and returns its connection.
  private func release(_ session: PostgresSession) {
    session.end()
    pool.giveBack(session.connection)
  }

  /// Calls a closure with a session for reading, which it releases or keeps; again with a newer catalog if the cached one
  /// turns out to be stale, and once more if an idle connection turns out to be broken.
  private func withNewSession<Result>(
    _ make: (PostgresConnection, PostgresCatalog) -> PostgresSession = PostgresSession.reading,
    _ body: (PostgresSession) throws -> Result
  ) throws -> Result {
    var attempts = 0
    while true {
      let connection = try take()
      var session: PostgresSession?
      do {
        let catalog = try store.catalog ?? store.readCatalog(connection)
        let made = make(connection, catalog)
        session = made
        do {
          return try body(made)
        } catch let error as PersistenceError where !made.wasSent {
          // A stale catalog may have caused the error.
          try made.verify()
          throw error
        }
      } catch {
        if let session { release(session) } else { pool.giveBack(connection) }
        attempts += 1
        let wasVerified = session?.isVerified ?? false
        // Others may have removed a table or a column since the catalog was read.
        let isStale = error is StaleCatalog || (!wasVerified && mayBeStale(error) && attempts < 3)
        guard isStale || (isIdleLoss(error) && !wasVerified && attempts == 1), attempts < 20 else {
          guard error is StaleCatalog else { throw error }
          throw PersistenceError(.busy, "the store's models keep changing; retry", location: store.location)
        }
        if isStale { store.catalog = nil } else { pool.discardIdle() }
      }
    }
  }

  /// Whether an error may come from a table that was removed, or that another context or program has changed.
  private func mayBeStale(_ error: any Error) -> Bool {
    (error as? PersistenceError)?.isOfDefinition ?? false
  }

  private func isIdleLoss(_ error: any Error) -> Bool {
    (error as? PersistenceError)?.isLostConnection ?? false
  }
}

/// Reads that may hold their moment.
extension PostgresSource {
  /// The rows of a request, with selected fields or all, at one moment that lives as long as the results.
  func results(_ request: FetchRequest, selecting positions: [Int]?) throws -> PostgresResults {
    if let whole = try wholeResults(request, selecting: positions) { return whole }
    return try withNewSession { session in
      let results = try PostgresResults(
        request, selecting: positions, of: session.model(for: request.schema), store.dialect)
      let isWhole = try results.begin(session)
      try session.verify()
      guard !isWhole else {
        release(session)
        return results
      }
      while true {
        let (pin, isNew) = try pins.pin(session)
        let snapshot = PostgresSnapshot(pin)
        guard !isNew else {
          try results.attach(to: snapshot, movingTo: nil)
          return results
        }
        do {
          // The cursor is there before this session releases its lock of the table.
          try snapshot.withSession { try results.attach(to: snapshot, movingTo: $0) }
        } catch {
          guard pin.isLive else { continue }
          throw error
        }
        release(session)
        return results
      }
    }
  }

  /// A snapshot of the newest state; snapshots of one state share a connection.
  func snapshot() throws -> PostgresSnapshot {
    try withNewSession(sessionWithLocks) { session in
      try session.verify()
      let (pin, isNew) = try pins.pin(session)
      if !isNew { release(session) }
      return PostgresSnapshot(pin)
    }
  }

  /// A session that locks all tables against removal before its moment begins.
  private func sessionWithLocks(_ connection: PostgresConnection, _ catalog: PostgresCatalog)
    -> PostgresSession
  {
    let tables = catalog.layouts.keys.sorted().compactMap { name in
      (try? store.table(name, in: catalog)).flatMap { $0 }.flatMap { table in
        // The server locks tables and views, and no others.
        ["m", "f"].contains(table.foreign?.relation.kind) ? nil : store.dialect.table(table.layout.table)
      }
    }
    var locking: [PostgresCommand] = []
    if !tables.isEmpty {
      locking = [PostgresCommand("LOCK TABLE \(tables.joined(separator: ", ")) IN ACCESS SHARE MODE")]
      if ObserversLock.isHeld {
        let noLimit = PostgresCommand("SET LOCAL lock_timeout TO DEFAULT")
        locking = [.lockTimeout(.milliseconds(50))] + locking + [noLimit]
      }
    }
    let session = PostgresSession.reading(connection, catalog, locking: locking)
    session.locksTables = true
    return session
  }
}
