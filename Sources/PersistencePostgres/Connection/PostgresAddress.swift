import Foundation
import PersistenceDriver

/// The server, the database and the user of a URL, as keywords of libpq.
struct PostgresAddress: Sendable {
  /// The keywords and values for libpq, in order.
  private(set) var parameters: [(keyword: String, value: String)]

  /// The servers and the database, without the user and secrets: for messages and logs.
  let location: String

  /// Whether the server's identity must be proven, although no option says so: it is on another host.
  private let demandsProof: Bool

  /// The options of libpq that a URL may have, with the values that each accepts.
  static let options: [StoreOption] = [
    StoreOption(
      "sslmode", .choice(["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]),
      "whether the connection is encrypted and the server proves its name; verify-full by default for other hosts"
    ),
    StoreOption("sslrootcert", .text, "the file of the certificate authorities; the system's by default"),
    StoreOption("sslcert", .text, "the file of the client's certificate"),
    StoreOption("sslkey", .text, "the file of the client's key"),
    StoreOption("sslpassword", .text, "the password of the client's key"),
    StoreOption("sslcrl", .text, "the file of revoked certificates"),
    StoreOption(
      "channel_binding", .choice(["disable", "prefer", "require"]),
      "whether the authentication is bound to the encrypted connection"),
    StoreOption(
      "gssencmode", .choice(["disable", "prefer", "require"]), "whether to encrypt the connection by GSSAPI"),
    StoreOption(
      "target_session_attrs",
      .choice(["any", "read-write", "read-only", "primary", "standby", "prefer-standby"]),
      "which of several servers to use; read-write by default, or any with readonly=true"),
    StoreOption(
      "host", .text, "the server's name or the folder of its socket; several are separated by commas"),
    StoreOption("hostaddr", .text, "the server's address, to save the look-up of its name"),
    StoreOption("port", .text, "the server's port; several are separated by commas"),
    StoreOption("user", .text, "the user"),
    StoreOption("password", .text, "the password; prefer a password file, or the variable PGPASSWORD"),
    StoreOption("passfile", .text, "the file of passwords"),
    StoreOption("dbname", .text, "the database"),
    StoreOption("service", .text, "the service in the file of services"),
    StoreOption("application_name", .text, "the name by which the server lists the connections"),
    StoreOption("keepalives", .integer(0...1), "whether to probe idle connections"),
    StoreOption("keepalives_idle", .integer(0...86_400), "the seconds before the first probe"),
    StoreOption("keepalives_interval", .integer(0...86_400), "the seconds between two probes"),
    StoreOption(
      "keepalives_count", .integer(0...1_000), "the unanswered probes after which a connection is lost"),
    StoreOption(
      "tcp_user_timeout", .integer(0...Int(Int32.max)),
      "the milliseconds without an acknowledgement after which a connection is lost"),
  ]

  /// Reads the address of a URL such as `postgres://user@host:5432/database?sslmode=verify-full`.
  ///
  /// - Throws: ``PersistenceError`` with code `invalidURL`.
  init(_ url: StoreURL, isReadOnly: Bool) throws {
    func invalid(_ reason: String) -> PersistenceError {
      PersistenceError(
        .invalidURL,
        "the address of the server is malformed: \(reason); an example is postgres://user@host:5432/database",
        location: "\(url)")
    }
    var values: [String: String] = [:]
    var servers: String?
    func decoded(_ text: some StringProtocol) throws -> String {
      guard let text = String(text).removingPercentEncoding, !text.utf8.contains(0) else {
        throw invalid("an escape is malformed")
      }
      return text
    }
    if url.hasSlashes {
      let parts = url.encodedPath.utf8Split("/")
      var hosts = parts.first
      if let at = hosts.utf8.lastIndex(of: UInt8(ascii: "@")) {
        let user = String(hosts[..<at]).utf8Split(":")
        hosts = String(hosts[hosts.utf8.index(after: at)...])
        if !user.first.isEmpty { values["user"] = try decoded(user.first) }
        if let password = user.rest { values["password"] = try decoded(password) }
      }
      if let database = parts.rest, !database.isEmpty {
        // The slash may be one of a password, of which the location would show a part.
        guard !parts.first.contains(":") || !database.utf8.contains(UInt8(ascii: "@")) else {
          throw invalid(
            "a slash precedes an @; write %2F for a slash in a password, and %40 for an @ in a name")
        }
        values["dbname"] = try decoded(database)
      }
      if !hosts.isEmpty {
        let list = try hosts.split(separator: ",", omittingEmptySubsequences: false).map { host in
          try Self.host(String(host), invalid)
        }
        let names = try list.map { try decoded($0.name) }
        values["host"] = names.joined(separator: ",")
        servers = zip(names, list).map { name, host in name + (host.port.map { ":" + $0 } ?? "") }
          .joined(separator: ",")
        if list.contains(where: { $0.port != nil }) {
          values["port"] = list.map { $0.port ?? "" }.joined(separator: ",")
        }
      }
    } else if !url.encodedPath.isEmpty {
      guard !url.encodedPath.contains(where: { "/@:,".contains($0) }) else {
        throw invalid("two slashes must precede the host")
      }
      values["dbname"] = try decoded(url.encodedPath)
    }
    for option in Self.options {
      guard let value = url.options[option.name] else { continue }
      guard !value.utf8.contains(0) else { throw invalid("the option \(option.name) contains U+0000") }
      guard values[option.name] == nil || option.name == "password" else {
        throw invalid("the option \(option.name) repeats what precedes the question mark")
      }
      values[option.name] = value
    }
    let database = values["dbname"] ?? ""
    location =
      "postgres://\(servers ?? (values["host"] ?? "") + (values["port"].map { ":" + $0 } ?? ""))/\(database)"
    let environment = ProcessInfo.processInfo.environment
    let isChosen = values["sslmode"] != nil || environment["PGSSLMODE"] != nil
    demandsProof = !isChosen
    let names = values["host"] ?? environment["PGHOST"] ?? ""
    let addresses = values["hostaddr"] ?? environment["PGHOSTADDR"] ?? ""
    if !isChosen, values["service"] == nil, !Self.isLocal(names) || !Self.isLocal(addresses) {
      values["sslmode"] = "verify-full"
    }
    // With authorities, libpq would verify the server in every mode.
    if values["sslmode"]?.hasPrefix("verify") == true, values["sslrootcert"] == nil,
      environment["PGSSLROOTCERT"] == nil, let file = Self.systemAuthorities()
    {
      values["sslrootcert"] = file
    }
    if !isReadOnly, values["target_session_attrs"] == nil { values["target_session_attrs"] = "read-write" }
    values["application_name"] = values["application_name"] ?? "persistence"
    values["client_encoding"] = "UTF8"
    parameters = values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  static let role = "target_session_attrs"

  /// The role that a server must have; nil for any.
  var role: String? { parameters.first { $0.keyword == Self.role }?.value }

  /// Whether connections use standbys only.
  var isOfStandbys: Bool { role == "standby" }

  /// The standbys among the servers.
  ///
  /// - Throws: ``PersistenceError`` with code `invalidURL` if the URL chooses servers of another role than the primary.
  func ofStandbys() throws -> PostgresAddress {
    guard role == nil || role == "read-write" || role == "primary" else {
      throw PersistenceError(
        .invalidURL,
        "the option readers=replica chooses a standby for reads and the primary server for writes; remove the option "
          + Self.role, location: location)
    }
    var address = self
    address.parameters = parameters.filter { $0.keyword != Self.role } + [(Self.role, "standby")]
    return address
  }

  /// Whether a connection that may be in plain text, because neither the URL nor the environment chose a mode, reaches
  /// another host, by its name or its address.
  func refuses(mode: String?, host: String, address: String) -> Bool {
    demandsProof && !(Self.isLocal(host) && Self.isLocal(address))
      && mode != "verify-full" && mode != "verify-ca" && mode != "require"
  }

  private static func host(_ text: String, _ invalid: (String) -> PersistenceError) throws -> (
    name: String, port: String?
  ) {
    var (name, rest) = (text, "")
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { throw invalid("a bracket is not closed") }
      name = String(text[text.index(after: text.startIndex)..<end])
      rest = String(text[text.index(after: end)...])
    } else if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) {
      name = String(text[..<colon])
      rest = String(text[colon...])
    }
    guard !rest.isEmpty else { return (name, nil) }
    guard rest.hasPrefix(":"), let port = Int(rest.dropFirst()), (1...65_535).contains(port) else {
      throw invalid("a port is not a number from 1 to 65535")
    }
    return (name, "\(port)")
  }

  /// Whether all hosts of a list are this one: a socket, or the loopback address.
  static func isLocal(_ hosts: String) -> Bool {
    hosts.split(separator: ",").allSatisfy { host in
      isSocket(host) || ["localhost", "127.0.0.1", "::1"].contains(host)
    }
  }

  /// Whether a host is the folder or the abstract name of a socket.
  static func isSocket(_ host: some StringProtocol) -> Bool { host.hasPrefix("/") || host.hasPrefix("@") }

  /// The system's certificate authorities, unless the user has a file of their own where libpq looks for it.
  private static func systemAuthorities() -> String? {
    let own = NSHomeDirectory() + "/.postgresql/root.crt"
    let files = [
      "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]
    guard !FileManager.default.fileExists(atPath: own) else { return nil }
    return files.first { FileManager.default.fileExists(atPath: $0) }
  }
}

extension String {
  /// The text before and after the first occurrence of an ASCII character, by bytes; nil after it if there is none.
  fileprivate func utf8Split(_ separator: Unicode.Scalar) -> (first: String, rest: String?) {
    guard let index = utf8.firstIndex(of: UInt8(ascii: separator)) else { return (self, nil) }
    return (String(self[..<index]), String(self[utf8.index(after: index)...]))
  }
}
