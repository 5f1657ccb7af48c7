import Foundation
import PersistenceDriver

extension PostgresConnection {
  /// The error of a connection that could not be made, of which libpq tells a message only.
  static func failure(_ handle: OpaquePointer?, _ store: PostgresStore) -> PersistenceError {
    var error = PostgresErrorMapping.lost(handle, "connect", store.location)
    if let (code, advice) = meaning(ofFailure: error.engineError?.message ?? "") {
      error.code = code
      error.message = "PostgreSQL could not connect: \(advice)"
    } else {
      error.message = "PostgreSQL could not connect; check the address, and that the server runs; then retry"
    }
    return error
  }

  /// The error of several servers, none of which could be used: one that refuses writes says more than one that is gone.
  static func failure(_ errors: [PersistenceError], _ store: PostgresStore) -> PersistenceError {
    guard var error = errors.first(where: { $0.code == .readOnly }) ?? errors.last else {
      return failure(nil, store)
    }
    let messages = errors.compactMap { $0.engineError?.message }
    if !messages.isEmpty {
      error.engineError = PersistenceError.EngineError(
        engine: "libpq", code: 0, message: messages.joined(separator: "; "))
    }
    return error
  }

  /// The meaning of libpq's message; nil for a server that cannot be reached.
  ///
  /// The server's words depend on its language, so its SQLSTATE counts. libpq's own errors have words only.
  static func meaning(ofFailure message: String) -> (PersistenceError.Code, String)? {
    if let state = state(in: message) {
      let meaning = PostgresErrorMapping.meaning(of: state)
      if meaning.0 != .engineFailure { return meaning }
    }
    func says(_ texts: String...) -> Bool { texts.contains { message.contains($0) } }
    if says("no password supplied", "no pg_hba.conf entry", "authentication failed") {
      return (.unauthorized, "the server rejects the user or the password; check the URL and pg_hba.conf")
    }
    if says("SSL SYSCALL error", "SSL negotiation packet") { return nil }
    if says("certificate", "SSL") {
      return (
        .untrustedServer,
        "the server does not prove its name by TLS; set sslrootcert, or choose another sslmode knowingly"
      )
    }
    if says("session is read-only", "server is in hot standby mode") {
      return (
        .readOnly, "no server accepts writes; connect to the primary server, or open with readonly=true"
      )
    }
    if message.hasPrefix("invalid") || says("definition of service") {
      return (.invalidURL, "an option of the URL is invalid; see the engine's message")
    }
    return nil
  }

  /// The SQLSTATE in a verbose message, such as `FATAL:  28000: role "ann" does not exist`.
  private static func state(in message: String) -> String? {
    let bytes = Array(message.utf8)
    for start in bytes.indices.dropLast(9) where bytes[start...].starts(with: ":  ".utf8) {
      let (state, rest) = (bytes[(start + 3)..<(start + 8)], bytes[(start + 8)...])
      let isState = state.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
      if isState, rest.starts(with: ": ".utf8) { return String(decoding: state, as: UTF8.self) }
    }
    return nil
  }
}
