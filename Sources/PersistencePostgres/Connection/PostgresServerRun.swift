import Foundation
import PersistenceDriver

/// A run of a server, which ends when the server recovers from a crash, and when a standby is promoted.
///
/// Then, the number of a lost transaction may become that of another one.
enum PostgresServerRun {
  /// The columns that tell the run.
  ///
  /// They call functions of the server: their views, or the functions as tables, cost a new connection more.
  static let columns =
    "CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL "
    + "ELSE pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()) END, "
    + "(pg_catalog.pg_stat_get_wal()).stats_reset"

  static let query = PostgresCommand("SELECT \(columns)")

  /// The column that tells a standby from other servers, by when it started; NULL for a primary server.
  static let standby =
    "CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_postmaster_start_time() END"

  /// The run in two columns of a result: the timeline, and when the server's statistics began; nil for a standby.
  static func text(_ result: PostgresResult, from column: Int = 0) -> String? {
    guard result.count == 1, let file = result.text(0, column), let reset = result.integer(0, column + 1)
    else { return nil }
    return "\(file.prefix(8)) \(reset)"
  }

  /// What ``text(_:)`` makes of the columns, in SQL: a binary time counts the microseconds since 2000.
  static let sqlText =
    "(SELECT pg_catalog.left(file, 8) || ' ' || ((extract(epoch FROM reset) - 946684800) * 1000000)::int8::text "
    + "FROM (SELECT \(columns)) AS run (file, reset))"
}

extension PostgresConnection {
  /// The outcome of a transaction of another connection, which was lost during its commit: true if it was committed, false
  /// if not, nil if this server cannot tell.
  ///
  /// A commit that waits for standbys is in progress. If its process ends meanwhile, it is committed, but they may lack it.
  func outcome(of transaction: String, begunIn run: String?) throws -> Bool? {
    guard let run else { return nil }
    var parameters = PostgresParameters()
    parameters.add(text: transaction)
    parameters.add(text: run)
    // One statement reads both, since the server may have recovered after this connection was opened.
    let unsure =
      "CASE WHEN pg_catalog.current_setting('synchronous_standby_names') <> '' "
      + "AND pg_catalog.current_setting('synchronous_commit') NOT IN ('local', 'off') THEN 'committed' END"
    let status =
      "SELECT CASE WHEN \(PostgresServerRun.sqlText) = $2 "
      + "THEN nullif(pg_catalog.pg_xact_status($1::text::xid8), \(unsure)) END"
    for _ in 0..<50 {
      let results = try self.run([PostgresCommand(status, parameters)], "look for a transaction")
      switch results.first?.text(0, 0) {
      case "committed": return true
      case "aborted": return false
      case "in progress": Thread.sleep(forTimeInterval: 0.1)
      default: return nil
      }
    }
    return nil
  }
}
