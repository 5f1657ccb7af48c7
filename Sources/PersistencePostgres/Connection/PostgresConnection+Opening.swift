import CPostgres
import Foundation
import PersistenceDriver
import PersistenceDriverSupport

extension PostgresConnection {
  /// Connects to the server, which another connection has checked, and prepares the connection.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - more: Settings beside the usual ones.
  /// - Returns: The connection.
  /// - Throws: ``PersistenceError`` if no server accepts the connection.
  static func open(_ store: PostgresStore, setting more: [String] = []) throws -> PostgresConnection {
    let connection = try connect(store)
    try connection.prepare(setting: more)
    return connection
  }

  /// Changes the settings, and reads the run of the server, in one round trip.
  func prepare(setting more: [String] = []) throws {
    let settings = settings(and: more)
    // A standby has no run, and may refuse the statement in a transaction that began before the settings.
    let queries = store.address.isOfStandbys ? [] : [PostgresServerRun.query]
    if let results = try attempt(settings + queries, "prepare a connection") {
      serverRun = results.dropFirst(settings.count).first.flatMap { PostgresServerRun.text($0) }
    } else if !settings.isEmpty {
      // Not every user may read the run.
      _ = try run(settings, "prepare a connection")
    }
    try watchClient()
  }

  /// The statements that change the settings; a pooler may give each transaction another session.
  func settings(and more: [String] = []) -> [PostgresCommand] {
    guard store.configuration.pooler == .session else { return [] }
    // Just-in-time compilation takes longer than most requests, and rows that a policy hides must be an error.
    var settings = ["jit = off", "row_security = off", "client_min_messages = error"] + more
    if store.address.isOfStandbys {
      // A standby refuses SERIALIZABLE, which may be the default of a role. A replay that stalls keeps its locks.
      settings += [
        "default_transaction_isolation = 'repeatable read'",
        "lock_timeout = \(Int64(PostgresStandbys.patience / .milliseconds(1)))",
      ]
    }
    return settings.map { PostgresCommand("SET " + $0) }
  }

  /// Makes the server notice within about a minute that this program is gone, with the locks that it holds.
  ///
  /// Nobody waits for the answers, and a server whose system lacks a setting refuses only that one.
  func watchClient() throws {
    guard store.configuration.pooler == .session else { return }
    let host = PQhost(handle).map { String(cString: $0) } ?? ""
    guard !PostgresAddress.isSocket(host) else { return }
    for setting in [
      "tcp_keepalives_idle = 30", "tcp_keepalives_interval = 10", "tcp_keepalives_count = 3",
      "tcp_user_timeout = 60000", "client_connection_check_interval = 10000",
    ] {
      try post([PostgresCommand("SET " + setting)], "prepare a connection")
    }
  }

  /// Connects to the first server that accepts; each may take an equal share of the time that is left.
  static func connect(_ store: PostgresStore) throws -> PostgresConnection {
    let deadline = ContinuousClock.now + store.configuration.connectTimeout
    var failures: [PersistenceError] = []
    for (place, parameters) in store.attempts.enumerated() {
      let share = (deadline - .now) / (store.attempts.count - place)
      do {
        return try connect(parameters, store, .now + share)
      } catch let error as PersistenceError where [.unreachable, .readOnly].contains(error.code) {
        // As in libpq, a server that refuses the user or the database decides for all.
        failures.append(error)
      }
    }
    throw failure(failures, store)
  }

  /// Connects to one server, or to one of those that libpq finds itself.
  private static func connect(
    _ parameters: [(keyword: String, value: String)], _ store: PostgresStore,
    _ deadline: ContinuousClock.Instant
  ) throws -> PostgresConnection {
    var keywords = parameters.map { strdup($0.keyword) }
    var values = parameters.map { strdup($0.value) }
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
    guard PQstatus(handle) != CONNECTION_BAD else { throw failure(handle, store) }
    // Nothing was sent yet, and so no password.
    try requireTrust(handle, store)
    // The messages tell the SQLSTATE, which no result has before the connection is made.
    PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    try connect(handle, store, deadline)
    PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
    persistence_pq_ignore_notices(handle)
    guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
      throw failure(handle, store)
    }
    return connection
  }

  /// Waits until a server accepts the connection, or libpq gives up.
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

  /// Refuses a server on another host that need not prove its name, unless the URL or the environment allows it.
  private static func requireTrust(_ handle: OpaquePointer, _ store: PostgresStore) throws {
    var values: [String: String] = [:]
    if let options = PQconninfo(handle) {
      defer { PQconninfoFree(options) }
      var option = options
      while let keyword = option.pointee.keyword {
        values[String(cString: keyword)] = option.pointee.val.map { String(cString: $0) }
        option += 1
      }
    }
    let (host, address) = (values["host"] ?? "", values["hostaddr"] ?? "")
    guard store.address.refuses(mode: values["sslmode"], host: host, address: address) else { return }
    throw PersistenceError(
      .untrustedServer,
      "the server is on another host and need not prove its name by TLS; choose an sslmode in the URL or in the service",
      location: store.location)
  }
}
