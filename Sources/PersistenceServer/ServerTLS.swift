#if HTTP
  public import Foundation
  import NIOCore
  import NIOSSL
  import PersistenceDriver
  import Synchronization

  /// The certificate chain and the private key with which a server speaks TLS 1.2 and 1.3.
  ///
  /// ```swift
  /// let tls = try ServerTLS(certificateFile: "server.pem", keyFile: "server.key")
  /// let server = StoreServer(context, tokens: tokens, tls: tls)
  /// ```
  public struct ServerTLS: Sendable {
    let context: NIOSSLContext
    /// When the certificate of the server expires.
    ///
    /// Clients refuse an expired certificate. The server does not check the date.
    public let expiration: Date

    /// Reads the files, and checks that they belong together.
    ///
    /// - Parameters:
    ///   - certificateFile: The path of a PEM file: the server's certificate, then those of its issuers.
    ///   - keyFile: The path of a PEM file with the private key, without a password.
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/inputOutput`` if a file cannot be read, or
    ///   ``PersistenceError/Code/invalidRequest`` if it is not what it should be, or the key is that of another
    ///   certificate.
    public init(certificateFile: String, keyFile: String) throws {
      let chain = try Self.read(certificateFile, "certificate in PEM form") {
        let chain = try NIOSSLCertificate.fromPEMBytes($0)
        return chain.isEmpty ? nil : chain
      }
      let key = try Self.read(keyFile, "private key in PEM form without a password") {
        try NIOSSLPrivateKey(bytes: $0, format: .pem)
      }
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
      configuration.minimumTLSVersion = .tlsv12
      configuration.applicationProtocols = ["http/1.1"]
      // How long a stopping server waits for the farewell of an idle client.
      configuration.shutdownTimeout = .seconds(1)
      do {
        context = try NIOSSLContext(configuration: configuration)
      } catch {
        throw PersistenceError(
          .invalidRequest,
          "the private key in \(keyFile) is not that of the first certificate in \(certificateFile), or TLS cannot use it"
        )
      }
      expiration =
        chain.map { Date(timeIntervalSince1970: TimeInterval($0.notValidAfter)) }.min() ?? .distantPast
    }

    private static func read<Value>(
      _ file: String, _ content: String, _ parse: ([UInt8]) throws -> Value?
    ) throws -> Value {
      guard let data = FileManager.default.contents(atPath: file) else {
        throw PersistenceError(.inputOutput, "cannot read \(file)", location: file)
      }
      // The parser's error says nothing of use, and could quote a key.
      guard !data.isEmpty, let value = try? parse(Array(data)) else {
        throw PersistenceError(.invalidRequest, "\(file) has no \(content)", location: file)
      }
      return value
    }
  }

  /// The TLS configuration of a server, which can change while it runs.
  final class CurrentTLS: Sendable {
    private let tls: Mutex<ServerTLS>

    init(_ tls: ServerTLS) { self.tls = Mutex(tls) }

    var context: NIOSSLContext { tls.withLock(\.context) }

    func replace(with new: ServerTLS) { tls.withLock { $0 = new } }
  }
#endif
