import Foundation
import PersistenceDriver
import PersistenceSQL

/// The opening of a store: recognises the server, and creates the tables of a new store.
struct PostgresOpening {
  /// The store's identity, which its creation made, and its place, since a restored copy has the same identity.
  let identity: String
  /// What was opened, for the log.
  let details: String
  let connection: PostgresConnection

  init(_ store: PostgresStore) throws {
    connection = try PostgresConnection.connect(store)
    if let state = try Self.openAtOnce(connection, store) {
      identity = state.identity(store)
      details = "PostgreSQL \(connection.parameter("server_version") ?? "")"
      return
    }
    let version = try Self.requireSupport(connection, store)
    try connection.prepare()
    var found = try Self.state(connection, store)
    if try store.belongsToOthers(connection, hasStore: found != nil) {
      try store.openForeignSchema(connection)
      identity = [
        "foreign", try Self.database(connection), Self.cluster(connection).map { "\($0)" } ?? "",
        store.location,
      ].joined(separator: " ")
      details = "PostgreSQL \(version), tables of other programs"
      return
    }
    if found == nil, !store.configuration.isReadOnly, store.configuration.createsMissingStore {
      try Self.create(connection, store)
      found = try Self.state(connection, store)
    }
    guard var found else {
      throw PersistenceError(
        .missingStore,
        "the schema “\(store.configuration.schema)” contains no store; check the option schema, or open it with create=true",
        location: store.location)
    }
    guard found.format == Self.format else {
      throw PersistenceError(
        .unsupported,
        "the store was written in format \(found.format), but this version of the package reads format \(Self.format); use "
          + "a newer version", location: store.location)
    }
    found.cluster = Self.cluster(connection)
    found.standby = try Self.standby(connection)
    identity = found.identity(store)
    details = "PostgreSQL \(version)"
  }

  /// The format of the stores that this version of the package reads.
  static let format: Int64 = 1

  /// The number of the oldest version of the server that stores need.
  static let oldestServer = 140_000

  /// The program that calls itself by another name than PostgreSQL in its version, and why it cannot be used; nil if it
  /// does not.
  static func otherServer(in version: String) -> (name: String, reason: String)? {
    [
      ("CockroachDB", "it aborts transactions by design and has no cursors that move"),
      ("YugabyteDB", "its definitions of tables are not transactional"), ("-YB-", "it is YugabyteDB"),
      ("Redshift", "it enforces no unique keys"),
    ].first { version.contains($0.0) }
  }

  /// Refuses a server that is none, too old, or another program that speaks the protocol; returns its version.
  private static func requireSupport(_ connection: PostgresConnection, _ store: PostgresStore) throws
    -> String
  {
    let command = PostgresCommand("SELECT pg_catalog.version()")
    let versions = try connection.run([command], "read the server's version")
    let version = versions.first?.text(0, 0) ?? ""
    if let (name, reason) = otherServer(in: version) {
      throw unsupported("a store on \(name) cannot be opened: \(reason); use PostgreSQL", store)
    }
    let facts = try connection.run(
      [
        PostgresCommand(
          "SELECT pg_catalog.current_setting('server_encoding'), "
            + "pg_catalog.current_setting('server_version_num')::int8, "
            + "EXISTS (SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus'), "
            + "pg_catalog.current_setting('server_version')")
      ], "read the server's settings")
    guard let facts = facts.first, facts.count == 1 else {
      throw unsupported("the server did not answer as PostgreSQL does", store)
    }
    guard (facts.integer(0, 1) ?? 0) >= oldestServer else {
      throw unsupported(
        "the server has version \(facts.text(0, 3) ?? "0"); use PostgreSQL 14 or later", store)
    }
    guard facts.text(0, 0) == "UTF8" else {
      throw unsupported(
        "the database has the encoding \(facts.text(0, 0) ?? ""); create one with the encoding UTF8", store)
    }
    guard facts.integer(0, 2) == 0 else {
      throw unsupported(
        "the database has the extension Citus, which enforces unique keys in part only; use another database",
        store)
    }
    return facts.text(0, 3) ?? ""
  }

  /// The name of the database.
  private static func database(_ connection: PostgresConnection) throws -> String {
    let command = PostgresCommand("SELECT pg_catalog.current_database()")
    return try connection.run([command], "read the database's name").first?.text(0, 0) ?? ""
  }

  /// The number of the server's cluster; nil where the user may not read it.
  private static func cluster(_ connection: PostgresConnection) -> Int64? {
    let command = PostgresCommand("SELECT system_identifier FROM pg_catalog.pg_control_system()")
    return (try? connection.run([command], "read the cluster's number"))?.first?.integer(0, 0)
  }

  /// The standby of a connection; nil for a primary server.
  static func standby(_ connection: PostgresConnection) throws -> Int64? {
    let command = PostgresCommand("SELECT \(PostgresServerRun.standby)")
    return try connection.run([command], "read the server's role").first?.integer(0, 0)
  }

  private static func unsupported(_ message: String, _ store: PostgresStore) -> PersistenceError {
    PersistenceError(.unsupported, message, location: store.location)
  }

  /// The state of the store; nil if there is none.
  private static func state(_ connection: PostgresConnection, _ store: PostgresStore) throws
    -> PostgresStoreState?
  {
    var parameters = PostgresParameters()
    parameters.add(text: store.own("state"))
    let found = try connection.run(
      [PostgresCommand("SELECT pg_catalog.to_regclass($1) IS NOT NULL", parameters)], "look for the store")
    guard found.first?.integer(0, 0) == 1 else { return nil }
    let states = try connection.run(
      [PostgresCommand("SELECT \(PostgresStoreState.columns) FROM \(store.own("state")) AS state")],
      "read the store's state")
    guard let result = states.first, result.count == 1, let state = PostgresStoreState(result) else {
      throw PersistenceError.damaged("the table persistence_state is empty").at(location: store.location)
    }
    return state
  }

  /// The statements that create this package's own tables, with the first version of the catalog.
  private static func creation(_ store: PostgresStore, _ version: Int64) -> [PostgresCommand] {
    var start = PostgresParameters()
    start.add(version)
    return [PostgresVersionTable(version, store).creation]
      + [
        "CREATE TABLE \(store.own("catalog")) (model text COLLATE \"C\" PRIMARY KEY, layout text NOT NULL)",
        "CREATE TABLE \(store.own("gate")) ()",
        "CREATE TABLE \(store.own("commits")) (xid xid8 PRIMARY KEY DEFAULT pg_catalog.pg_current_xact_id(), "
          + "at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp())",
        "CREATE TABLE \(store.own("dropped")) (kind text NOT NULL, name text NOT NULL)",
        "CREATE TABLE \(store.own("state")) (format int8 NOT NULL, store uuid NOT NULL, version int8 NOT NULL)",
        // The table has one row.
        "CREATE UNIQUE INDEX persistence_state_row ON \(store.own("state")) ((true))",
      ].map { PostgresCommand($0) }
      + [
        PostgresCommand(
          "INSERT INTO \(store.own("state")) VALUES (\(format), pg_catalog.gen_random_uuid(), $1)", start)
      ]
  }

  /// Creates the schema and this package's own tables, unless another process does so at the same time.
  private static func create(_ connection: PostgresConnection, _ store: PostgresStore) throws {
    let schema = store.dialect.identifier(store.configuration.schema)
    var name = PostgresParameters()
    name.add(text: "persistence " + store.configuration.schema)
    let version = Int64.random(in: 1 << 32..<1 << 61)
    let timeout = PostgresCommand.lockTimeout(store.configuration.busyTimeout)
    do {
      // Of two sessions that create the tables at the same time, one would fail, so they take turns.
      _ = try connection.run(
        [
          // Statements after the lock must see what another process has created.
          PostgresCommand("BEGIN ISOLATION LEVEL READ COMMITTED"), timeout,
          PostgresCommand(
            "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1, 0))", name),
        ], "begin to create the store")
      var commands: [PostgresCommand] = []
      var parameters = PostgresParameters()
      parameters.add(text: store.configuration.schema)
      parameters.add(text: store.own("state"))
      // A query of a table takes notice of what others have committed while this one waited. Functions such as
      // `to_regnamespace` alone answer from what the server's process knew before.
      let found = try connection.run(
        [
          PostgresCommand(
            "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1), "
              + "pg_catalog.to_regclass($2) IS NOT NULL", parameters)
        ], "look for the schema")
      if found.first?.integer(0, 0) != 1 { commands.append(PostgresCommand("CREATE SCHEMA \(schema)")) }
      // Tables that are there already are not this package's: each commit would run their triggers.
      if found.first?.integer(0, 1) != 1 { commands += creation(store, version) }
      commands.append(PostgresCommits.log(store))
      commands.append(PostgresCommand("COMMIT"))
      _ = try connection.run(commands, "create the store")
    } catch {
      if !connection.isBroken { try? connection.post([PostgresCommand("ROLLBACK")], "end a transaction") }
      // A table or a type of the name exists.
      let isTaken = (error as? PersistenceError).map { $0.isPostgres("42P07") || $0.isPostgres("42710") }
      guard isTaken != true else {
        throw unsupported(
          "the schema “\(store.configuration.schema)” contains no store, but tables that a store needs; remove those whose "
            + "names begin with persistence_, or open another schema", store)
      }
      throw error
    }
  }
}
