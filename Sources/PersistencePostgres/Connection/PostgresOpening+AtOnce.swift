import CPostgres
import PersistenceDriver

extension PostgresOpening {
  /// Opens an existing store on a usual server in one round trip; nil where anything differs, which leaves no trace.
  ///
  /// A new connection has empty caches, so each table and function that a statement names costs its server more than the
  /// round trip does.
  static func openAtOnce(_ connection: PostgresConnection, _ store: PostgresStore) throws
    -> PostgresStoreState?
  {
    let configuration = store.configuration
    guard configuration.isForeign != true, configuration.includedViews.isEmpty,
      PQserverVersion(connection.handle) >= oldestServer,
      connection.parameter("server_encoding") == "UTF8"
    else { return nil }
    let settings = connection.settings
    // One statement reads the catalog and its version at one moment. Citus makes its table in each of its databases.
    let found = PostgresCommand(
      "SELECT \(PostgresStoreState.columns), pg_catalog.version(), "
        + "pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NULL, catalog.model, catalog.layout "
        + "FROM \(store.own("state")) AS state LEFT JOIN \(store.own("catalog")) AS catalog ON true")
    let server = PostgresCommand(
      "SELECT \(PostgresServerRun.columns), system_identifier "
        + "FROM \(PostgresServerRun.source), pg_catalog.pg_control_system()")
    guard let results = try connection.attempt(settings + [found, server], "open the store"),
      results.count == settings.count + 2
    else { return nil }
    let (rows, facts) = (results[settings.count], results[settings.count + 1])
    let first = PostgresStoreState.columnCount
    guard var state = PostgresStoreState(rows), state.format == format,
      let version = rows.text(0, first), otherServer(in: version) == nil, rows.integer(0, first + 1) == 1,
      let cluster = facts.integer(0, 2)
    else { return nil }
    state.cluster = cluster
    connection.serverRun = PostgresServerRun.text(facts)
    try connection.watchClient()
    // A damaged catalog is the error of the first read.
    let hasModels = rows.bytes(0, first + 2) != nil
    if let layouts = hasModels ? try? store.layouts(rows, at: first + 2) : [:] {
      store.catalog = PostgresCatalog(version: state.version, layouts: layouts)
    }
    return state
  }
}
