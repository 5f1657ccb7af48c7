import CPostgres
import Foundation
import PersistenceDriver
import PersistenceDriverSupport

extension PostgresConnection {
  /// Connects to the server, lets the caller check it, and prepares the connection.
  static func open(_ store: PostgresStore, _ check: (PostgresConnection) throws -> Void = { _ in }) throws
    -> PostgresConnection
  {
    let deadline = ContinuousClock.now + store.configuration.connectTimeout
    var keywords = store.address.parameters.map { strdup($0.keyword) }
    var values = store.address.parameters.map { strdup($0.value) }
    defer { for text in keywords + values { free(text) } }
    keywords.append(nil)
    values.append(nil)
    let started = keywords.map { UnsafePointer($0) }.withUnsafeBufferPointer { keywords in
      values.map { UnsafePointer($0) }.withUnsafeBufferPointer { values in
        keywords.baseAddress.flatMap { keywords in
          values.baseAddress.flatMap { PQconnectStartParams(keywords, $0, 0) }
        }
      }
    }
    guard let handle = started else { throw failure(nil, store) }
    let connection = PostgresConnection(handle, of: store)
    try connect(handle, store, deadline)
    try requireTrust(handle, store)
    persistence_pq_ignore_notices(handle)
    guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
      throw failure(handle, store)
    }
    try check(connection)
    if store.configuration.pooler == .session {
      // Just-in-time compilation takes longer than most requests, and rows that a policy hides must be an error.
      _ = try connection.run(
        ["jit = off", "row_security = off", "client_min_messages = error"].map {
          PostgresCommand("SET " + $0)
        },
        "prepare a connection")
    }
    connection.serverRun = try? connection.readServerRun()
    return connection
  }

  /// What changes when the server recovers from a crash, and when a standby is promoted: then, the number of a lost
  /// transaction may become that of another one.
  private func readServerRun() throws -> String? {
    let results = try run(
      [
        PostgresCommand(
          "SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL ELSE "
            + "pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8) || ' ' || "
            + "(SELECT stats_reset::text FROM pg_catalog.pg_stat_wal) END")
      ], "read the state of the server")
    return results.first?.text(0, 0)
  }

  /// The outcome of a transaction of another connection, which was lost during its commit: true if it was committed, false
  /// if not, nil if this server cannot tell.
  func outcome(of transaction: String, begunIn run: String?) throws -> Bool? {
    guard let run, run == serverRun else { return nil }
    var number = PostgresParameters()
    number.add(text: transaction)
    for _ in 0..<50 {
      let results = try self.run(
        [PostgresCommand("SELECT pg_catalog.pg_xact_status($1::text::xid8)", number)],
        "look for a transaction")
      switch results.first?.text(0, 0) {
      case "committed": return true
      case "aborted": return false
      case "in progress": Thread.sleep(forTimeInterval: 0.1)
      default: return nil
      }
    }
    return nil
  }

  private static func connect(
    _ handle: OpaquePointer, _ store: PostgresStore, _ deadline: ContinuousClock.Instant
  ) throws {
    var wanted = PGRES_POLLING_WRITING
    while true {
      guard PQstatus(handle) != CONNECTION_BAD else { throw failure(handle, store) }
      let left = (deadline - .now).timeInterval * 1000
      guard left > 0 else {
        throw PersistenceError(
          .unreachable,
          "PostgreSQL did not accept a connection within \(store.configuration.connectTimeout); check the address and the "
            + "network, or raise the option connect", location: store.location)
      }
      let events = wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT
      var file = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
      let count = poll(&file, 1, Int32(min(left.rounded(.up), 1_000_000)))
      if count == 0 || (count < 0 && errno == EINTR) { continue }
      wanted = PQconnectPoll(handle)
      if wanted == PGRES_POLLING_OK { return }
      guard wanted != PGRES_POLLING_FAILED else { throw failure(handle, store) }
    }
  }

  /// The error of a connection that could not be made, of which libpq tells a message only.
  private static func failure(_ handle: OpaquePointer?, _ store: PostgresStore) -> PersistenceError {
    var error = PostgresErrorMapping.lost(handle, "connect", store.location)
    let message = error.engineError?.message ?? ""
    func become(_ code: PersistenceError.Code, _ advice: String) {
      error.code = code
      error.message = "PostgreSQL could not connect: \(advice)"
    }
    let isRejected = [
      "password authentication failed", "no password supplied", "no pg_hba.conf entry",
      "authentication failed",
    ].contains { message.contains($0) }
    if isRejected {
      become(.unauthorized, "the server rejects the user or the password; check the URL and pg_hba.conf")
    } else if message.contains("role \""), message.contains("does not exist") {
      become(.unauthorized, "the user does not exist; create the role, or correct the URL")
    } else if message.contains("database \""), message.contains("does not exist") {
      become(.missingStore, "the database does not exist; create it, or correct the URL")
    } else if message.contains("too many clients") || message.contains("remaining connection slots") {
      become(.busy, "the server has no free connection; retry, or use a connection pooler")
    } else if message.contains("certificate") || message.contains("SSL") {
      become(
        .untrustedServer,
        "the server does not prove its name by TLS; set sslrootcert, or choose another sslmode knowingly")
    } else if message.contains("session is read-only") || message.contains("server is in hot standby mode") {
      become(.readOnly, "no server accepts writes; connect to the primary server, or open with readonly=true")
    } else if message.hasPrefix("invalid") || message.contains("definition of service") {
      become(.invalidURL, "an option of the URL is invalid; see the engine's message")
    } else {
      error.message = "PostgreSQL could not connect; check the address, and that the server runs; then retry"
    }
    return error
  }

  /// Refuses a server on another host that did not prove its name, unless the URL or the environment allows it.
  private static func requireTrust(_ handle: OpaquePointer, _ store: PostgresStore) throws {
    let host = PQhost(handle).map { String(cString: $0) } ?? ""
    var mode: String?
    if let options = PQconninfo(handle) {
      defer { PQconninfoFree(options) }
      var option = options
      while let keyword = option.pointee.keyword {
        if String(cString: keyword) == "sslmode" { mode = option.pointee.val.map { String(cString: $0) } }
        option += 1
      }
    }
    guard store.address.refuses(mode: mode, host: host) else { return }
    throw PersistenceError(
      .untrustedServer,
      "the server is on another host and did not prove its name by TLS; choose an sslmode in the URL or in the service",
      location: store.location)
  }
}
