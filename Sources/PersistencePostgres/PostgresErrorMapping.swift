import CPostgres
import PersistenceDriver

/// Maps PostgreSQL's SQLSTATEs to the package's errors (contract E2, E5).
enum PostgresErrorMapping {
  /// The error for an answer of the server.
  static func error(
    _ result: OpaquePointer?, _ connection: OpaquePointer?, _ action: String, _ location: String
  )
    -> PersistenceError
  {
    let state = field(result, PERSISTENCE_PG_SQLSTATE) ?? ""
    guard !state.isEmpty else { return lost(connection, action, location) }
    let (code, advice) = meaning(of: state)
    return PersistenceError(
      code, "PostgreSQL could not \(action): \(advice)", location: location,
      engineError: PersistenceError.EngineError(
        engine: "PostgreSQL", code: number(of: state),
        message: "\(state): \(field(result, PERSISTENCE_PG_MESSAGE) ?? "no message")"))
  }

  /// The error for a connection that broke or could not be made; libpq's message has no password.
  static func lost(_ connection: OpaquePointer?, _ action: String, _ location: String) -> PersistenceError {
    let message = connection.map { String(cString: PQerrorMessage($0)) } ?? "out of memory"
    let line = message.split(whereSeparator: \.isNewline).joined(separator: "; ")
    return PersistenceError(
      .unreachable,
      "PostgreSQL could not \(action): the connection is broken; check the server and the network, and retry",
      location: location,
      engineError: PersistenceError.EngineError(engine: "libpq", code: 0, message: line))
  }

  private static func field(_ result: OpaquePointer?, _ number: Int32) -> String? {
    result.flatMap { PQresultErrorField($0, number) }.map { String(cString: $0) }
  }

  /// A SQLSTATE as a number: its five digits are those of base 36.
  static func number(of state: String) -> Int { Int(state, radix: 36) ?? 0 }

  static func meaning(of state: String) -> (PersistenceError.Code, String) {
    switch state {
    case "55P03": return (.busy, "another session holds a lock; retry, or raise the busy time-out")
    case "40001", "40P01":
      return (.busy, "the transaction conflicts with another one, and was rolled back; retry")
    case "53300": return (.busy, "the server has no free connection; retry, or use a connection pooler")
    case "57014": return (.timedOut, "the statement was cancelled; retry, or raise the time-out")
    case "25P03": return (.snapshotExpired, "the server ended an idle transaction; fetch again")
    case "25P02":
      return (.engineFailure, "an earlier statement has failed, so the transaction is rolled back")
    case "25006":
      return (.readOnly, "nothing may be written; connect to the primary server, or read no view that writes")
    case "28P01", "28000":
      return (.unauthorized, "the server rejects the user or the password; check the URL and pg_hba.conf")
    case "3D000": return (.missingStore, "the database does not exist; create it, or correct the URL")
    case "3F000": return (.missingStore, "the schema does not exist; open the store with create=true")
    case "42501": return (.accessDenied, "the user lacks a privilege; grant it, or connect as another user")
    case "53100": return (.storeFull, "the server's disk is full; free some space and retry")
    case "53200": return (.engineFailure, "the server is out of memory; retry, or read less at once")
    case "54000": return (.valueTooLarge, "a value exceeds a limit of the server; see the engine's message")
    case "58030": return (.inputOutput, "the server's storage device failed; see the server's log")
    case "XX001", "XX002":
      return (.damaged, "the server's files are damaged; restore the database from a backup")
    case "23505": return (.uniqueViolation, "a unique index rejects the record")
    case "23503":
      return (.brokenReference, "a foreign key of a table rejects the change; see the engine's message")
    case "42P01", "42703":
      return (.damaged, "a table does not match the store's catalog: another program has changed it")
    default: break
    }
    switch state.prefix(2) {
    case "08": return (.unreachable, "the connection is broken; check the server and the network, and retry")
    case "57": return (.unreachable, "the server is not available; retry")
    case "23":
      return (.invalidRequest, "a constraint of the table rejects the record; see the engine's message")
    case "53": return (.engineFailure, "the server lacks resources; see the engine's message")
    default: return (.engineFailure, "see the engine's message")
    }
  }
}
