#if HTTP
  import Foundation
  import PersistenceDriver
  import TestSupport
  import Testing
  import ToolProcess

  @testable import PersistenceTool

  @Suite("serve, as a process", .serialized)
  struct ServeProcessTests {
    private let folder: TemporaryFolder
    private static let schema = """
      {"name":"N","fields":[{"name":"id","kind":"int64","isOptional":false}],"key":["id"],"indexes":[]}
      """

    init() throws { folder = try TemporaryFolder() }

    /// The status and the body of a response.
    private func answer(
      _ port: Int, _ method: String, _ path: String, token: String? = nil, body: String? = nil
    ) throws -> (status: String, body: String) {
      var text = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
      if let token { text += "Authorization: Bearer \(token)\r\n" }
      if let body { text += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n" }
      let connection = try RawConnection(port: port)
      connection.send(text + "\r\n" + (body ?? ""))
      let received = connection.receiveAll()
      let parts = received.split(separator: "\r\n\r\n", maxSplits: 1)
      return (String(received.split(separator: " ").dropFirst().first ?? ""), String(parts.last ?? ""))
    }

    private func makeStore() throws -> String {
      let file = try folder.file("m.csv", "id\n1\n2\n3\n")
      let store = "sqlite:\(folder("a.db"))"
      let run = ToolHarness()("import", file, store, "--model", "M", "--key", "id")
      try #require(run.code == 0, "\(run)")
      return store
    }

    @Test("Tokens from files: read, write and none")
    func fileTokens() throws {
      let (reader, writer) = ("reads-and-no-more-1", "writes-and-reads-12")
      let (server, port) = try ToolProcess.serving([
        makeStore(), "--read-tokens", folder.file("r", "\n  \(reader)  \n"), "--write-tokens",
        folder.file("w", writer + "\nanother-of-the-writers\n"),
      ])
      for path in ["/models", "/models/M/records", "/nowhere"] {
        #expect(try answer(port, "GET", path).status == "401")
        #expect(try answer(port, "GET", path, token: reader + "2").status == "401")
      }
      #expect(try answer(port, "GET", "/health").status == "204")
      for token in [reader, writer, "another-of-the-writers"] {
        #expect(try answer(port, "GET", "/models/M/records", token: token).status == "200")
      }
      let refused = try answer(port, "PUT", "/models/N", token: reader, body: Self.schema)
      #expect(refused.status == "403", "\(refused)")
      #expect(try answer(port, "GET", "/models/N", token: writer).status == "404")
      let written = try answer(port, "PUT", "/models/N", token: writer, body: Self.schema)
      #expect(["200", "201", "204"].contains(written.status), "\(written)")
      #expect(try answer(port, "GET", "/models/N", token: reader).status == "200")
      server.send(SIGTERM)
      #expect(try server.ended() == 0)
    }

    @Test("Tokens from the environment, separated by commas")
    func variableTokens() throws {
      let (server, port) = try ToolProcess.serving(
        [makeStore()],
        environment: [
          "PERSISTENCE_READ_TOKENS": "reads-and-no-more-1, reads-and-no-more-2",
          "PERSISTENCE_WRITE_TOKENS": "writes-and-reads-12",
        ])
      for token in ["reads-and-no-more-1", "reads-and-no-more-2", "writes-and-reads-12"] {
        #expect(try answer(port, "GET", "/models", token: token).status == "200")
      }
      for token in [nil, "reads-and-no-more-1, reads-and-no-more-2"] {
        #expect(try answer(port, "GET", "/models", token: token).status == "401")
      }
      let refused = try answer(
        port, "PUT", "/models/N", token: "reads-and-no-more-2", body: Self.schema)
      #expect(refused.status == "403", "\(refused)")
      server.send(SIGTERM)
      #expect(try server.ended() == 0)
    }

    @Test("Enforces the limits of page and body size")
    func limits() throws {
      let (server, port) = try ToolProcess.serving([
        makeStore(), "--without-tokens", "--max-page", "1", "--max-body", "300",
      ])
      let page = try answer(port, "GET", "/models/M/records")
      let records = try JSONParser.parse(page.body).member("records")
      guard case .array(let found)? = records else {
        Issue.record("\(page)")
        return
      }
      #expect(found.count == 1)
      #expect(try answer(port, "PUT", "/models/N", body: Self.schema).status.hasPrefix("2"))
      let long = Self.schema + String(repeating: " ", count: 300)
      #expect(try answer(port, "PUT", "/models/O", body: long).status == "413")
      #expect(try answer(port, "GET", "/models/O").status == "404")
      server.send(SIGTERM)
      #expect(try server.ended() == 0)
    }

    @Test("Clients add a field to a model only with --evolve additive", arguments: [true, false])
    func additions(isAdditive: Bool) throws {
      let (server, port) = try ToolProcess.serving(
        [makeStore(), "--without-tokens"] + (isAdditive ? ["--evolve", "additive"] : []))
      #expect(try answer(port, "PUT", "/models/N", body: Self.schema).status.hasPrefix("2"))
      func fields(_ more: String) -> String {
        Self.schema.replacing("\"fields\":[", with: "\"fields\":[" + more)
      }
      let noted = fields(#"{"name":"note","kind":"string","isOptional":true},"#)
      let added = try answer(port, "PUT", "/models/N", body: noted)
      #expect(added.status == (isAdditive ? "200" : "409"), "\(added)")
      #expect(added.body.contains("its evolution is additive") == !isAdditive, "\(added)")
      let required = try answer(
        port, "PUT", "/models/N", body: fields(#"{"name":"size","kind":"int64","isOptional":false},"#))
      #expect(required.status == "409" && required.body.contains("@Field(fill:)"), "\(required)")
      #expect(try answer(port, "GET", "/models/N").body.contains("note") == isAdditive)
      server.send(SIGTERM)
      #expect(try server.ended() == 0)
    }

    @Test("SIGHUP reads the token files again, and a damaged file changes nothing")
    func reloadedTokens() throws {
      let (old, new) = ("writes-and-reads-12", "writes-and-reads-34")
      let file = try folder.file("w", old + "\n")
      let (server, port) = try ToolProcess.serving([makeStore(), "--write-tokens", file])
      #expect(try answer(port, "GET", "/models", token: old).status == "200")
      _ = try folder.file("w", new + "\n")
      server.send(SIGHUP)
      try server.waits(for: "read the tokens again")
      #expect(try answer(port, "GET", "/models", token: old).status == "401")
      #expect(try answer(port, "GET", "/models", token: new).status == "200")
      _ = try folder.file("w", "short\n")
      server.send(SIGHUP)
      try server.waits(for: "the tokens stay as they are")
      #expect(try answer(port, "GET", "/models", token: new).status == "200")
      server.send(SIGTERM)
      #expect(try server.ended() == 0)
    }

    @Test("A token file that other users can read is remarked, and one that they cannot is not")
    func readableTokens() throws {
      let store = try makeStore()
      for (mode, isRemarked) in [(0o644, true), (0o640, true), (0o600, false)] {
        let file = try folder.file("w\(mode)", "writes-and-reads-12\n")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        let (server, _) = try ToolProcess.serving([store, "--write-tokens", file])
        #expect(server.messages.contains("chmod 600") == isRemarked, "\(server.messages)")
        server.send(SIGTERM)
        #expect(try server.ended() == 0)
      }
    }

    @Test("SIGHUP reads the certificate again, and a damaged file changes nothing", .timeLimit(.minutes(1)))
    func certificates() throws {
      let certificate = try folder.file("server.pem", TestCertificates.certificate)
      let key = try folder.file("server.key", TestCertificates.key)
      for (mode, isRemarked) in [(0o644, true), (0o600, false)] {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
        let (server, port) = try ToolProcess.serving([
          "memory:", "--without-tokens", "--tls-certificate", certificate, "--tls-key", key,
        ])
        #expect(server.messages.contains("on https://127.0.0.1:\(port)\n"), "\(server.messages)")
        #expect(server.messages.contains("chmod 600") == isRemarked, "\(server.messages)")
        // The server speaks no plain HTTP.
        #expect(try answer(port, "GET", "/health").status == "")
        server.send(SIGHUP)
        try server.waits(for: "read the certificate again")
        _ = try folder.file("server.pem", "no certificate")
        server.send(SIGHUP)
        try server.waits(for: "the certificate stays as it is")
        #expect(!server.messages.contains("read the tokens again"))
        server.send(SIGTERM)
        #expect(try server.ended() == 0)
        _ = try folder.file("server.pem", TestCertificates.certificate)
      }
    }

    @Test("An expired certificate is remarked")
    func expiredCertificate() throws {
      let (server, _) = try ToolProcess.serving([
        "memory:", "--without-tokens", "--tls-certificate",
        folder.file("server.pem", TestCertificates.expiredCertificate), "--tls-key",
        folder.file("server.key", TestCertificates.expiredKey),
      ])
      #expect(server.messages.contains("has expired"), "\(server.messages)")
      server.send(SIGTERM)
      #expect(try server.ended() == 0)
    }

    @Test(
      "--host-name adds names to those of this machine, and --access-log shows each request without its token"
    )
    func names() throws {
      let (server, port) = try ToolProcess.serving([
        makeStore(), "--without-tokens", "--host-name", "movies.example", "--access-log",
      ])
      func status(_ host: String) throws -> String {
        let connection = try RawConnection(port: port)
        connection.send(
          "GET /models?secret=1 HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\nAuthorization: Bearer secret\r\n\r\n"
        )
        return String(connection.receiveAll().split(separator: " ").dropFirst().first ?? "")
      }
      #expect(try status("evil.example") == "421")
      #expect(try status("movies.example:\(port)") == "400")
      #expect(try status("localhost") == "400")
      try server.waits(for: "path=/models")
      #expect(!server.messages.contains("secret"))
      server.send(SIGTERM)
      #expect(try server.ended() == 0)
    }

    @Test("The printed address is a URL, with brackets around IPv6 addresses")
    func address() throws {
      for (text, host, url) in [
        ("127.0.0.1:0", "127.0.0.1", "http://127.0.0.1:7"),
        ("localhost:80", "localhost", "http://localhost:7"),
        ("[::1]:8080", "::1", "http://[::1]:7"), ("::1:8080", "::1", "http://[::1]:7"),
      ] {
        let address = try #require(ListenAddress(text))
        #expect(address.host == host && address.url(port: 7) == url)
      }
      for text in ["8080", ":8080", "h:", "h:x", "h:65536", "h:-1", ""] {
        #expect(ListenAddress(text) == nil, "\(text)")
      }
    }

    @Test("Prints an IPv6 address with brackets")
    func printedAddress() throws {
      guard Self.hasIPv6 else { return }  // Containers may lack IPv6; another test checks the form.
      let (server, port) = try ToolProcess.serving(["memory:", "--without-tokens"], host: "[::1]")
      #expect(server.messages.contains("on http://[::1]:\(port)\n"), "\(server.messages)")
      server.send(SIGTERM)
      #expect(try server.ended() == 0)
    }

    private static var hasIPv6: Bool {
      #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
      #else
        let kind = SOCK_STREAM
      #endif
      let descriptor = socket(AF_INET6, kind, 0)
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_addr = in6addr_loopback
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
        }
      }
    }
  }
#endif
