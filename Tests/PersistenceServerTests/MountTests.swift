import Hummingbird
import Logging
import NIOCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceServer
import Testing

/// The routes of a store in another Hummingbird application.
@Suite("Mounted routes")
struct MountTests {
  private static let schema = """
    {"name":"Note","fields":[{"name":"id","kind":"string","isOptional":false},
     {"name":"text","kind":"string","isOptional":true}],"key":["id"],"indexes":[]}
    """

  /// Runs an application with the store's routes below `/api/store`, and one of its own.
  private func withApplication(
    _ tokens: AccessTokens, _ body: (_ port: Int) async throws -> Void
  ) async throws {
    let router = Router()
    router.get("hello") { _, _ in "hello" }
    var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    logger.logLevel = .critical
    StoreServer(MemoryContext(), tokens: tokens, logger: logger).addRoutes(to: router.group("api/store"))
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let application = Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { channel in continuation.yield(channel.localAddress?.port ?? 0) }, logger: logger)
    let task = Task {
      defer { continuation.finish() }
      try await application.runService(gracefulShutdownSignals: [])
    }
    var port = 0
    for await known in ports {
      port = known
      break
    }
    let result: Result<Void, any Error>
    do {
      try #require(port > 0)
      result = .success(try await body(port))
    } catch {
      result = .failure(error)
    }
    task.cancel()
    _ = await task.result
    try result.get()
  }

  private func tokens() throws -> AccessTokens {
    try AccessTokens(read: [RunningServer.readToken], write: [RunningServer.writeToken])
  }

  @Test("the store answers below its prefix, with keys of any characters, and the application beside it")
  func routes() async throws {
    try await withApplication(tokens()) { port in
      let client = WireClient(port: port)
      #expect(try await client("GET", "/hello").body == "hello")
      #expect(try await client("PUT", "/api/store/models/Note", Self.schema).status == 201)
      for key in ["a", "a%2Fb", "%2E%2E", "%3F", "%25", "..%2F..%2Fmodels"] {
        let path = "/api/store/models/Note/records/\(key)"
        let id = key.replacing("%2F", with: "/").replacing("%2E", with: ".").replacing("%3F", with: "?")
          .replacing("%25", with: "%")
        let body = "{\"id\":\"\(id)\",\"text\":\"x\"}"
        #expect(try await client("PUT", path, body).status == 201, "\(key)")
        #expect(try await client("GET", path).body.contains("\"id\":\"\(id)\""), "\(key)")
      }
      let page = try await client("GET", "/api/store/models/Note/records?where=id%20%3D%20%27a%27&limit=5")
      #expect(page.status == 200 && page.body.contains("\"a\"") && !page.body.contains("a/b"), "\(page)")
      let lines = try await client(
        "GET", "/api/store/models/Note/records",
        headers: ["Accept: application/x-ndjson", "Accept-Encoding: gzip"])
      #expect(lines.body.split(separator: "\n").count == 6, "\(lines)")
      #expect(!lines.headers.keys.contains { $0.hasPrefix("persistence-") }, "\(lines)")
      #expect(try await client("GET", "/api/store/nothing").status == 404)
      #expect(try await client("GET", "/models").status == 404)
    }
  }

  @Test("tokens protect the mounted routes, and headers of the server's own are ignored")
  func protection() async throws {
    try await withApplication(tokens()) { port in
      var client = WireClient(port: port)
      #expect(
        try await client("GET", "/api/store/models", headers: ["Persistence-Refusal: host"]).status == 200)
      let packed = try await client(
        "PUT", "/api/store/models/Note", Self.schema, headers: ["Content-Encoding: gzip"])
      #expect(packed.status == 415)
      client.token = RunningServer.readToken
      #expect(try await client("PUT", "/api/store/models/Note", Self.schema).status == 403)
      client.token = nil
      #expect(try await client("GET", "/api/store/models").status == 401)
      #expect(try await client("GET", "/api/store/health").status == 204)
    }
  }

  @Test("without tokens, only requests that name this machine are answered")
  func hostNames() async throws {
    try await withApplication(.open) { port in
      let client = WireClient(port: port)
      #expect(try await client("GET", "/api/store/models").status == 200)
      let other = try await client.raw(
        "GET /api/store/models HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
      #expect(other.status == 421)
    }
  }
}
