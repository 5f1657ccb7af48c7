import CPostgres
import PersistenceDriver

extension PostgresOpening {
  /// Opens an existing store on a usual server in one round trip; nil where anything differs, so that the caller goes on
  /// step by step, and finds out what to say.
  ///
  /// The statements name few tables, functions and casts: the caches of a new connection are empty, and each of them costs
  /// its server up to 0.1 ms.
  static func openAtOnce(_ connection: PostgresConnection, _ store: PostgresStore) throws
    -> PostgresStoreState?
  {
    let configuration = store.configuration
    guard configuration.isForeign != true, configuration.includedViews.isEmpty,
      Int(PQserverVersion(connection.handle)) >= oldestServer,
      connection.parameter("server_encoding") == "UTF8"
    else { return nil }
    let settings = connection.settings()
    // One statement reads the catalog and its version at one moment. Citus makes its table in each of its databases.
    let found = PostgresCommand(
      "SELECT \(PostgresStoreState.columns), pg_catalog.version(), "
        + "pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NULL, "
        + "state.version, catalog.model, catalog.layout "
        + "FROM \(store.own("state")) AS state LEFT JOIN \(store.own("catalog")) AS catalog ON true")
    let place = PostgresCommand(
      "SELECT \(PostgresServerRun.columns), (pg_catalog.pg_control_system()).system_identifier")
    guard let results = try connection.attempt(settings + [found, place], "open the store"),
      results.count == settings.count + 2
    else { return nil }
    let (rows, places) = (results[settings.count], results[settings.count + 1])
    let first = PostgresStoreState.columnCount
    guard var state = PostgresStoreState(rows), state.format == format,
      let server = rows.text(0, first), otherServer(in: server) == nil, rows.integer(0, first + 1) == 1,
      let version = rows.integer(0, first + 2), let cluster = places.integer(0, 2)
    else { return nil }
    state.cluster = cluster
    connection.serverRun = PostgresServerRun.text(places)
    // Only a standby has no name of a log file.
    if places.bytes(0, 0) == nil { state.standby = try standby(connection) }
    try connection.watchClient()
    // A damaged catalog is the error of the first read.
    let hasModels = rows.bytes(0, first + 3) != nil
    if let layouts = hasModels ? try? store.layouts(rows, at: first + 3) : [:] {
      store.catalog = PostgresCatalog(version: version, layouts: layouts)
    }
    return state
  }
}
