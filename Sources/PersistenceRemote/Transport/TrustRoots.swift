#if HTTP
  import Foundation
  import NIOSSL
  import PersistenceDriver

  /// The TLS configuration of a client: TLS 1.2 or later, with full verification of the server.
  enum TrustRoots {
    /// - Parameter file: The path of a PEM file with the only trusted issuers; nil for those of the system.
    /// - Returns: The configuration.
    /// - Throws: ``PersistenceError/Code/invalidURL`` if the file has none.
    static func configuration(_ file: String?) throws(PersistenceError) -> TLSConfiguration {
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.minimumTLSVersion = .tlsv12
      guard let file else { return configuration }
      guard let data = FileManager.default.contents(atPath: file), !data.isEmpty,
        let certificates = try? NIOSSLCertificate.fromPEMBytes(Array(data)), !certificates.isEmpty
      else {
        throw PersistenceError(
          .invalidURL,
          "cannot read the trust roots in “\(file)”; name a file of certificates in PEM form (option trustroots)"
        )
      }
      configuration.trustRoots = .certificates(certificates)
      return configuration
    }
  }
#endif
