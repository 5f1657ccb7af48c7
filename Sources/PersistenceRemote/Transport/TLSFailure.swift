#if HTTP
  import AsyncHTTPClient
  import NIOHTTP1
  import NIOSSL
  import PersistenceDriver

  /// Converts errors of TLS, and those of one side that speaks it and one that does not.
  enum TLSFailure {
    /// The error for a failure of TLS; nil for any other.
    static func error(_ error: any Error, location: String) -> PersistenceError? {
      switch error {
      case NIOSSLError.handshakeFailed(let reason): return handshake("\(reason)", location)
      case is NIOSSLExtraError:
        return untrusted(
          "its certificate is for another name (\(error)); use a name of the certificate in the URL", location
        )
      case is HTTPParserError:
        return PersistenceError(
          .unreachable,
          "the answer is not HTTP (\(error)); if the server speaks TLS on this port, use https:",
          location: location)
      default: break
      }
      #if canImport(Network)
        if error is HTTPClient.NWTLSError { return untrusted("\(error); \(advice)", location) }
      #endif
      return nil
    }

    private static func handshake(_ reason: String, _ location: String) -> PersistenceError? {
      // The connection broke; its reason may pass.
      if reason.contains("EOF during") || reason.contains("syscallError") { return nil }
      if reason.contains("CERTIFICATE_VERIFY_FAILED") { return untrusted(advice, location) }
      return untrusted(
        "it does not speak TLS 1.2 or 1.3 on this port (\(words(in: reason))); check the scheme and the port",
        location)
    }

    /// The library's words for a failure, without its places in source code.
    private static func words(in reason: String) -> String {
      let words = reason.split(separator: "OPENSSL_internal:").dropFirst().map { $0.prefix { $0 != " " } }
      return words.isEmpty ? reason : words.joined(separator: ", ")
    }

    private static let advice =
      "the issuer of its certificate is unknown, or the certificate has expired; if the issuer is your own, name its "
      + "certificate in RemoteOptions.trustRoots (option trustroots)"

    private static func untrusted(_ reason: String, _ location: String) -> PersistenceError {
      PersistenceError(
        .untrustedServer, "nothing was sent to the server: \(reason)", location: location)
    }
  }
#endif
