#if CommandLineTool && HTTP
  import Foundation
  import PersistenceServer

  /// The files with which a server speaks TLS.
  struct TLSFiles: Sendable {
    let certificate: String
    let key: String

    /// Reads the files, and warns of a key that other users of the machine can read, and of an expired certificate.
    func tls(warning warn: (String) throws -> Void) throws -> ServerTLS {
      let tls = try ServerTLS(certificateFile: certificate, keyFile: key)
      try SecretFile.check(key, of: "the private key", warn)
      if tls.expiration < Date() {
        try warn("warning: the certificate in \(certificate) has expired, so clients refuse it; renew it")
      }
      return tls
    }
  }
#endif
