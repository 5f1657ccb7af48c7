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
/// server, and so does a snapshot. With ``PostgresConfiguration/Readers/replica``, reads outside of transactions go to a
/// standby.
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

  let shared: PostgresSharedStore
  /// The transactions that commit at the same time.
  let commitGroups = PostgresCommitGroups()
  private let primary: PostgresSource
  /// The standbys for reads outside of transactions; nil unless the configuration chooses them.
  let replicas: PostgresSource?

  var store: PostgresStore { primary.store }
  var pool: PostgresPool { primary.pool }

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
    primary = PostgresSource(
      try PostgresAddress(url, isReadOnly: configuration.isReadOnly), configuration)
    replicas = try PostgresSource.ofStandbys(beside: primary, url)
    let store = primary.store
    monitor = ContextMonitor(configuration.monitoring, location: store.location)
    let fillCount = monitor.fillCount
    let opening = try PostgresOpening(store)
    // The opening may have read the catalog, so that the first call need not.
    if let catalog = store.catalog, catalog.layouts[StoredName(ReservedModel.fillLedger)] == nil {
      monitor.noteComplete(before: fillCount)
    }
    replicas?.store.foreign = store.foreign
    capabilities =
      store.isForeign
      ? .postgresForeign(configuration) : .postgres(configuration)
    shared = PostgresSharedStore.of(opening.identity, store)
    primary.pool.giveBack(opening.connection)
    monitor.opened(opening.details + (replicas == nil ? "" : ", reads on standbys"))
  }

  /// Reads on the primary server.
  func withSession<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
    try primary.withSession(body)
  }

  /// The schema of one model, as the primary server has it.
  public func schema(named name: String) throws -> ModelSchema? {
    let found = try primary.withSession { try $0.schema(named: name) }
    // A standby that lags behind would show no record of an unfinished copy, but records that it has copied later.
    if found != nil, name == ReservedModel.fillLedger { replicas?.standbys?.doubt() }
    return found
  }

  func withReadingSession<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
    try read { try $0.withSession(body) }
  }

  /// Reads from a standby if the configuration chooses one and it can answer, otherwise from the primary server.
  private func read<Result>(_ body: (PostgresSource) throws -> Result) throws -> Result {
    if let replicas, let result = try replicas.attempt(body) { return result }
    return try body(primary)
  }

  /// Finds a record by its key, by one statement outside a transaction where the cached catalog is the newest one.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try key.validate(for: schema)
    let row = RowBuffer(count: schema.fields.count)
    let found = try read { try $0.find(key, in: schema, filling: row) }
    return try row.withRow(of: found, body)
  }

  /// The rows of a request, at one moment that lives as long as the results.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    try read { try $0.results(request, selecting: nil) }
  }

  /// Selected fields of a request's rows; it reads no others.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try request.schema.requirePositions(positions)
    return try read { try $0.results(request, selecting: positions) }
  }

  /// How many rows a request has; the server counts them, unless the client must evaluate a part of the condition.
  public func count(_ request: FetchRequest) throws -> Int { try read { try $0.count(request) } }

  /// A snapshot of the newest state; snapshots of one state share a connection.
  public func snapshot() throws -> any StorageSnapshot {
    guard ObserversLock.isHeld else { return try read { try $0.snapshot() } }
    do {
      // The numbers of commits belong to the primary server. Later reads must not be older than what an observer is told.
      let snapshot = try primary.snapshot()
      replicas?.standbys?.doubt()
      return snapshot
    } catch let error as PersistenceError where error.isPostgres("55P03") {
      throw SnapshotWouldWait()
    }
  }

  /// Closes the store.
  ///
  /// Results that are still in use stay readable; releasing the last of them closes its connection.
  public func close() throws {
    try shared.gate.withEntry(timeout: store.configuration.busyTimeout, location: location) {
      if !pool.isClosed, !capabilities.isReadOnly, !store.isForeign { removeDropped() }
      pool.close()
      replicas?.pool.close()
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
