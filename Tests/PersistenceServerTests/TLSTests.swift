import CoreMetrics
import DataAccess
import DataAccessTesting
import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceRemote
import PersistenceServer
import TestSupport
import Testing
import ToolProcess

@Suite("TLS")
struct TLSTests {
  private typealias Certificates = TestCertificates
  private let files: TestFiles

  init() throws { files = try TestFiles() }

  private func tls(
    _ certificate: String = Certificates.certificate, _ key: String = Certificates.key
  ) throws -> ServerTLS {
    try ServerTLS(
      certificateFile: files.write(certificate, to: "server.pem"),
      keyFile: files.write(key, to: "server.key"))
  }

  private func trusting() throws -> RemoteOptions {
    RemoteOptions(trustRoots: try files.write(Certificates.issuer, to: "issuer.pem"))
  }

  private func films(_ url: String, _ options: RemoteOptions = RemoteOptions()) throws
    -> RemoteDataSource<Film>
  {
    try RemoteServer(url, token: RunningServer.writeToken, options: options).dataSource(of: Film.self)
  }

  @Test("a client that trusts the issuer reads, writes and streams, by each name of the certificate")
  func trusted() async throws {
    let all = (0..<2000).map { Film($0, "title \($0)") }
    try await RunningServer.with(try Film.context(all), tls: try tls()) { server in
      for (number, host) in ["127.0.0.1", "localhost"].enumerated() {
        let films = try films(server.url(host), trusting())
        #expect(try await films.execute(FetchOptions()) == all + (0..<number).map { Film(5000 + $0) })
        try await films.insert(Film(5000 + number))
        #expect(try await films.find(5000 + number) == Film(5000 + number))
      }
    }
  }

  @Test("the URL's option names the trust roots, which are for TLS only")
  func option() async throws {
    let issuer = try files.write(Certificates.issuer, to: "issuer.pem")
    let token = try files.write(RunningServer.readToken, to: "token")
    try await RunningServer.with(try Film.context([Film(1)]), tls: try tls()) { server in
      let sources = try DataSources(
        opening: "\(server.url)?trustroots=\(issuer)&tokenfile=\(token)", engines: [],
        tokenSources: TokenSources(files: [token]))
      #expect(try await sources.dataSource(of: Film.self).find(1) == Film(1))
    }
    for wrong in [
      "http://127.0.0.1:1?trustroots=\(issuer)", "https://x?trustroots=\(issuer)-missing",
      "https://x?trustroots=\(token)",
    ] {
      let error = #expect(throws: PersistenceError.self) { try DataSources(opening: wrong, engines: []) }
      #expect(error?.code == .invalidURL && error?.message.contains("trustroots") == true, "\(wrong)")
    }
  }

  @Test("a certificate that is unknown, expired or for another name is untrustedServer, and nothing is sent")
  func untrusted() async throws {
    let servers: [(ServerTLS, RemoteOptions, String)] = [
      (try tls(), RemoteOptions(), "trustRoots"),
      (try tls(Certificates.expiredCertificate, Certificates.expiredKey), try trusting(), "expired"),
      (try tls(Certificates.otherCertificate, Certificates.otherKey), try trusting(), "another name"),
    ]
    for (tls, options, advice) in servers {
      let context = try Film.context([Film(1)])
      try await RunningServer.with(context, tls: tls) { server in
        let films = try films(server.url, options)
        let calls: [() async throws -> Void] = [
          { _ = try await films.find(1) }, { _ = try await films.save(Film(2)) },
          { _ = try await films.execute(FetchOptions()) },
        ]
        for call in calls {
          let error = await #expect(throws: PersistenceError.self) { try await call() }
          #expect(
            error?.code == .untrustedServer && error?.isRetryable == false, "\(String(describing: error))")
          #expect(error?.message.contains(advice) == true, "\(String(describing: error))")
        }
      }
      #expect(try Repository(context).filter(Film.self).result().count == 1)
    }
  }

  @Test("layers answer without a server that is not trusted, and their outbox waits")
  func layers() async throws {
    try await RunningServer.with(try Film.context([]), tls: try tls()) { server in
      var options = LayerOptions<Film>()
      options.writes = .localFirst
      options.clock = TestClock()
      options.outbox = RetryPolicy(
        attempts: 1, firstDelay: .seconds(1 << 30), longestDelay: .seconds(1 << 30), jitter: 0)
      let source = try LayeredDataSource(
        local: RepositoryDataSource<Film>.inMemory(), remote: films(server.url), options: options)
      let outbox = try #require(source.outbox)
      try await source.save(Film(1, "mine"))
      for _ in 0..<3 {
        let error = await #expect(throws: PersistenceError.self) { try await outbox.send() }
        #expect(error?.code == .untrustedServer)
      }
      #expect(try await outbox.waiting().count == 1)
      #expect(try await outbox.setAside().isEmpty)
      #expect(try await source.find(1) == Film(1, "mine"))
    }
  }

  @Test("plain HTTP at a TLS port, and TLS at a plain port, fail at once", .timeLimit(.minutes(1)))
  func mixed() async throws {
    let context = try Film.context([Film(1)])
    var limits = ServerLimits()
    (limits.firstByteTime, limits.headTime) = (.seconds(3600), .seconds(3600))
    try await RunningServer.with(context, limits: limits, tls: try tls()) { server in
      let answer = try await WireClient(port: server.port)("GET", "/models/Film/records/1")
      #expect(answer.status == 0 && !answer.body.contains("HTTP"))
      let plain = try films("http://127.0.0.1:\(server.port)")
      let error = await #expect(throws: PersistenceError.self) { try await plain.find(1) }
      #expect(error?.code == .unreachable)
    }
    try await RunningServer.with(context) { server in
      let secure = try films("https://127.0.0.1:\(server.port)", trusting())
      let error = await #expect(throws: PersistenceError.self) { try await secure.find(1) }
      #expect(error?.code == .untrustedServer && error?.message.contains("scheme") == true)
    }
  }

  @Test(
    "clients that send no first byte, or stop in the handshake, are cut off; others are served meanwhile",
    .timeLimit(.minutes(1)))
  func slow() async throws {
    var limits = ServerLimits()
    (limits.firstByteTime, limits.headTime) = (.seconds(1), .seconds(1))
    try await RunningServer.with(try Film.context([Film(1)]), limits: limits, tls: try tls()) { server in
      let port = server.port
      try await withThrowingTaskGroup(of: Bool.self) { group in
        let starts: [[UInt8]] = [[], [0x16], ClientHello.bytes(version: 0x0303).dropLast()]
        for start in starts {
          group.addTask {
            try await RawConnection.run(port) { connection in
              connection.send(start)
              return connection.waitUntilClosed()
            }
          }
        }
        // On a busy machine, a handshake may take longer than a second.
        let films = try films(server.url, trusting())
        try await until { (try? await films.find(1)) == Film(1) }
        for try await isCutOff in group { #expect(isCutOff) }
      }
    }
  }

  @Test(
    "silent and idle connections give way to new ones", .timeLimit(.minutes(1)),
    arguments: CrowdTests.limitsOfAll)
  func crowd(connections: Int) async throws {
    var limits = ServerLimits()
    (limits.connections, limits.connectionsPerPeer) = (connections, 4)
    (limits.firstByteTime, limits.headTime) = (.seconds(3600), .seconds(3600))
    let backend = RecordingMetrics()
    try await withMetricsFactory(backend) {
      try await RunningServer.with(try Film.context([Film(1)]), limits: limits, tls: try tls()) { server in
        let silent = try (0..<4).map { _ in try RawConnection(port: server.port) }
        try await until { backend.value("persistence_connections") == 4 }
        var clients: [RemoteDataSource<Film>] = []
        for _ in 0..<8 {
          // Each keeps an idle connection.
          let films = try films(server.url, trusting())
          #expect(try await films.find(1) == Film(1))
          clients.append(films)
        }
        #expect(backend.value("persistence_connections") == 4)
        withExtendedLifetime((silent, clients)) {}
      }
    }
  }

  @Test("TLS 1.1 is refused, and TLS 1.2 is not")
  func versions() async throws {
    try await RunningServer.with(try Film.context([Film(1)]), tls: try tls()) { server in
      func answer(_ version: UInt16) async throws -> [UInt8] {
        let hello = ClientHello.bytes(version: version)
        return try await RawConnection.run(server.port) { connection in
          connection.send(hello)
          return connection.receive()
        }
      }
      // An alert: fatal, the version of the protocol.
      let old = try await answer(0x0302)
      #expect(old.first == 0x15 && old.suffix(2) == [2, 70], "\(old)")
      // A handshake message: the server's hello.
      let current = try await answer(0x0303)
      #expect(current.first == 0x16 && current.dropFirst(5).first == 2, "\(current.prefix(16))")
    }
  }

  @Test("another certificate is used for new connections, without a restart")
  func replacing() async throws {
    let other = try tls(Certificates.otherCertificate, Certificates.otherKey)
    try await RunningServer.with(try Film.context([Film(1)]), tls: other) { server in
      let films = try films(server.url, trusting())
      let error = await #expect(throws: PersistenceError.self) { try await films.find(1) }
      #expect(error?.code == .untrustedServer)
      try server.server.replaceTLS(tls())
      #expect(try await films.find(1) == Film(1))
    }
    try await RunningServer.with(try Film.context([])) { server in
      let error = #expect(throws: PersistenceError.self) { try server.server.replaceTLS(other) }
      #expect(error?.code == .invalidRequest)
    }
  }

  @Test("files that are missing or do not belong together are refused by name, without showing the key")
  func invalidFiles() throws {
    let (certificate, key) = (Certificates.certificate, Certificates.key)
    let wrong: [(String, String, String)] = [
      ("", key, "server.pem"), ("no certificate", key, "server.pem"), (key, key, "server.pem"),
      (certificate, "", "server.key"), (certificate, certificate, "server.key"),
      (certificate, String(key.dropLast(60)), "server.key"),
      (certificate, Certificates.otherKey, "server.key"),
    ]
    for (certificate, key, file) in wrong {
      let error = #expect(throws: PersistenceError.self) { try tls(certificate, key) }
      #expect(
        error?.code == .invalidRequest && error?.message.contains(file) == true,
        "\(String(describing: error))")
      #expect(error?.message.contains("MIGH") == false)
    }
    let error = #expect(throws: PersistenceError.self) {
      try ServerTLS(certificateFile: files.path + "/missing", keyFile: files.path + "/missing")
    }
    #expect(error?.code == .inputOutput)
    #expect(try tls(Certificates.expiredCertificate, Certificates.expiredKey).expiration < Date())
    #expect(try tls().expiration > Date(timeIntervalSinceNow: 50 * 365 * 86_400))
  }
}

/// The first message of a TLS handshake, for versions that no library offers any more.
enum ClientHello {
  static func bytes(version: UInt16) -> [UInt8] {
    func pair(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }
    // AES-128 with ECDSA keys: the form of TLS 1.2 and that of older versions.
    let ciphers: [UInt8] = [0xC0, 0x2B, 0xC0, 0x09]
    // The curve P-256, uncompressed points, and signatures by ECDSA with SHA-256.
    let extensions: [UInt8] = [0, 10, 0, 4, 0, 2, 0, 23, 0, 11, 0, 2, 1, 0, 0, 13, 0, 4, 0, 2, 4, 3]
    var body = pair(Int(version)) + [UInt8](repeating: 7, count: 32) + [0]
    body += pair(ciphers.count) + ciphers + [1, 0] + pair(extensions.count) + extensions
    let message: [UInt8] = [1, 0] + pair(body.count) + body
    return [0x16, 3, 1] + pair(message.count) + message
  }
}
