/// The statements that read the version of the catalog, made once for a store.
struct PostgresVersionQueries: Sendable {
  /// Reads the version.
  let version: PostgresCommand
  /// Reads the version, and the moment of a transaction.
  let versionAndMoment: PostgresCommand

  /// Makes the statements for a rowset that has the version in a column `version`.
  init(of state: String) {
    version = PostgresCommand("SELECT version FROM \(state)", prepared: -10)
    versionAndMoment = PostgresCommand(
      "SELECT version, pg_catalog.pg_current_snapshot()::text FROM \(state)", prepared: -7)
  }
}
