public import PersistenceDriver
public import PersistenceDriverSupport
import Foundation
import PersistenceSQL

/// A context that stores models in a schema of a PostgreSQL database, with an ordinary table for each model.
///
/// A schema that contains tables and no store belongs to other programs: their tables become models, and nothing is
/// created in it (``PostgresConfiguration/isForeign``).
///
/// A pool of connections reads and writes. Results that do not fit into their first page hold a transaction of the
/// server, and so does a snapshot.
///
/// ```swift
/// let context = try PostgresContext(url: "postgres://app@db.example.com/movies")
/// ```
public final class PostgresContext: ObservableContext, PostgresReader {
  /// The servers, the database and the schema, without secrets.
  public var location: String { store.location }

  /// What the store supports: it is durable and multi-process, and the server evaluates most predicates, orders and pages.
  public let capabilities: Capabilities

  /// The monitor of the context.
  public let monitor: ContextMonitor

  /// Whether the store is known to be complete, as the monitor remembers.
  public var isKnownComplete: Bool { monitor.isKnownComplete }

  /// The observers of the store's commits.
  public var observers: CommitObservers { shared.observers }

  let store: PostgresStore
  let pool: PostgresPool
  let shared: PostgresSharedStore
  private let pins: PostgresPins

  /// Opens a store, and creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - url: The address of the server and the database, such as `postgres://user@host:5432/database`. It may have
  ///     the engine's options, such as `schema` and `sslmode`, which override the configuration. A password comes from the URL, from a password file, or from the variable
  ///     `PGPASSWORD`.
  ///   - configuration: How to open the store.
  /// - Throws: ``PersistenceError``: `invalidURL`; `unreachable`; `unauthorized`; `untrustedServer` if TLS does not prove
  ///   the server's name; `missingStore` if the database does not exist, or the store if the configuration does not
  ///   create it; `accessDenied`; `readOnly`; `busy`; `unsupported` for a server that is not PostgreSQL 14 or later, or
  ///   whose encoding is not UTF-8.
  public convenience init(url: String, configuration: PostgresConfiguration = PostgresConfiguration()) throws
  {
    let url = try StoreURL(url)
    guard [StorageEngine.postgres, .postgresql].contains(where: { $0.scheme == url.scheme }) else {
      throw PersistenceError(
        .invalidURL, "the URL of a server begins with postgres: or postgresql:", location: "\(url)")
    }
    let options = try StoreOptions(url, known: PostgresConfiguration.options + PostgresAddress.options)
    try self.init(url, configuration.applying(options))
  }

  init(_ url: StoreURL, _ configuration: PostgresConfiguration) throws {
    let schema = configuration.schema
    guard !schema.isEmpty, schema.utf8.count <= 63, !schema.utf8.contains(0) else {
      throw PersistenceError(
        .invalidURL, "the name of a schema has 1 to 63 bytes; correct the option schema", location: "\(url)")
    }
    store = PostgresStore(
      try PostgresAddress(url, isReadOnly: configuration.isReadOnly), configuration)
    pool = PostgresPool(store)
    pins = PostgresPins(pool, store)
    let opening = try PostgresOpening(store)
    capabilities =
      store.isForeign
      ? .postgresForeign(configuration) : .postgres(configuration)
    monitor = ContextMonitor(configuration.monitoring, location: store.location)
    shared = PostgresSharedStore.of(opening.identity, store)
    pool.giveBack(opening.connection)
    monitor.opened(opening.details)
  }

  func withSession<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
    try withNewSession { session in
      let result = try body(session)
      try session.verify()
      release(session)
      return result
    }
  }

  /// Finds a record by its key, by one statement outside a transaction where the cached catalog is the newest one.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try key.validate(for: schema)
    let row = RowBuffer(count: schema.fields.count)
    if let found = try findNewest(key, in: schema, row) {
      return try withExtendedLifetime(found) {
        guard found.count > 0 else { return false }
        try row.withRow(body)
        return true
      }
    }
    return try withSession { try $0.find(key, in: schema, body) }
  }

  /// Fills a row with a record; nil if the catalog may be stale, or the statement fails.
  private func findNewest(_ key: RecordKey, in schema: ModelSchema, _ row: RowBuffer) throws
    -> PostgresResult?
  {
    guard let catalog = store.catalog,
      let model = try? store.table(StoredName(schema.name), in: catalog)?.model(for: schema, store: store)
    else { return nil }
    let connection = try pool.take()
    defer { pool.giveBack(connection) }
    var parameters = PostgresParameters(isForeign: model.foreign != nil)
    for value in key.values { parameters.add(value) }
    let text = store.text(of: model.key(.find), on: model.table)
    // The version is read after the record: if it is still the known one, it was when the record was read.
    let version = PostgresCommand("SELECT version FROM \(store.state)", prepared: -10)
    guard
      let results = try? connection.run(
        [PostgresCommand(text.sql, prepared: text.number, parameters), version], "find a \(schema.name)",
        isReading: true), results.count == 2, results[1].count == 1,
      results[1].integer(0, 0) == catalog.version
    else {
      // If the error recurs, the second attempt throws it.
      return nil
    }
    if results[0].count > 0 {
      do {
        try results[0].fill(row, row: 0, model.columns)
      } catch let error as PersistenceError {
        throw error.at(model: schema.name, key: key, location: location)
      }
    }
    return results[0]
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
      let connection = try pool.take()
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
        // The server may have removed a table since the catalog was read.
        let isStale = error is StaleCatalog || (!wasVerified && mayBeStale(error) && attempts < 3)
        guard isStale || (isIdleLoss(error) && !wasVerified && attempts == 1), attempts < 20 else {
          guard error is StaleCatalog else { throw error }
          throw PersistenceError(.busy, "the store's models keep changing; retry", location: location)
        }
        if isStale { store.catalog = nil } else { pool.discardIdle() }
      }
    }
  }

  /// Whether an error may come from a table that was removed, or that another program has changed.
  private func mayBeStale(_ error: any Error) -> Bool {
    guard let error = error as? PersistenceError else { return false }
    return error.isPostgres("42P01") || (store.isForeign && error.isOfDefinition)
  }

  private func isIdleLoss(_ error: any Error) -> Bool {
    (error as? PersistenceError)?.isLostConnection ?? false
  }

  /// The rows of a request, at one moment that lives as long as the results.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    try results(request, selecting: nil)
  }

  /// Selected fields of a request's rows; it reads no others.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try results(request, selecting: positions)
  }

  private func results(_ request: FetchRequest, selecting positions: [Int]?) throws -> any StorageResults {
    try withNewSession { session in
      let results = try PostgresResults(request, selecting: positions, in: session)
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
  public func snapshot() throws -> any StorageSnapshot {
    do {
      return try withNewSession(sessionWithLocks) { session in
        try session.verify()
        let (pin, isNew) = try pins.pin(session)
        if !isNew { release(session) }
        return PostgresSnapshot(pin)
      }
    } catch let error as PersistenceError where error.isPostgres("55P03") && ObserversLock.isHeld {
      throw SnapshotWouldWait()
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
    guard !tables.isEmpty else { return PostgresSession.reading(connection, catalog) }
    let lock = PostgresCommand("LOCK TABLE \(tables.joined(separator: ", ")) IN ACCESS SHARE MODE")
    guard ObserversLock.isHeld else {
      return PostgresSession.reading(connection, catalog, locking: [lock])
    }
    let noLimit = PostgresCommand("SET LOCAL lock_timeout TO DEFAULT")
    return PostgresSession.reading(
      connection, catalog, locking: [.lockTimeout(.milliseconds(50)), lock, noLimit])
  }

  /// Closes the store.
  ///
  /// Results that are still in use stay readable; releasing the last of them closes its connection.
  public func close() throws {
    try shared.gate.withEntry(timeout: store.configuration.busyTimeout, location: location) {
      if !pool.isClosed, !capabilities.isReadOnly, !store.isForeign { removeDropped() }
      pool.close()
    }
    observers.end(of: self)
  }
}

extension PostgresContext {
  /// Removes a schema with everything in it, for tests.
  ///
  /// - Parameters:
  ///   - schema: The name of the schema.
  ///   - url: The URL of the database.
  /// - Throws: ``PersistenceError`` if it cannot be removed.
  package static func removeStore(named schema: String, url: String) throws {
    let url = try StoreURL(url)
    let store = PostgresStore(
      try PostgresAddress(url, isReadOnly: false), PostgresConfiguration(schema: schema))
    let connection = try PostgresConnection.open(store)
    _ = try connection.run(
      [
        PostgresCommand("BEGIN"), .lockTimeout(.seconds(2)),
        PostgresCommand("DROP SCHEMA IF EXISTS \(store.dialect.identifier(schema)) CASCADE"),
        PostgresCommand("COMMIT"),
      ], "remove the schema \(schema)")
  }
}
