import PersistenceCore
import PersistenceRemote
import PersistenceServer
import Testing

@Suite("Tokens")
struct AccessTests {
  private static let requests = [
    ("GET", "/models"), ("GET", "/openapi.json"), ("GET", "/models/Film"), ("PUT", "/models/Film"),
    ("GET", "/models/Film/records"), ("POST", "/models/Film/records"), ("GET", "/models/Film/records/1"),
    ("PUT", "/models/Film/records/1"), ("DELETE", "/models/Film/records/1"), ("POST", "/models/Film/query"),
    ("GET", "/models/Film/count"), ("POST", "/batches"), ("GET", "/nothing"), ("PATCH", "/models"),
    ("GET", "/models/Other/records/1"),
  ]

  @Test("without a valid token, every path gives the same answer and reveals nothing")
  func none() async throws {
    let context = try Film.context([Film(1, "secret title")])
    try await RunningServer.with(context) { server in
      var bodies: Set<String> = []
      for token in [
        nil, "", "wrong", RunningServer.readToken + "x", String(RunningServer.readToken.dropLast()),
      ] {
        for (method, path) in Self.requests {
          let reply = try await WireClient(port: server.port, token: token)(
            method, path, method == "GET" ? nil : "{}")
          #expect(reply.status == 401, "\(method) \(path)")
          #expect(reply.headers["www-authenticate"] == "Bearer")
          bodies.insert(reply.body)
        }
      }
      #expect(bodies.count == 1)
      #expect(bodies.allSatisfy { !$0.contains("Film") && !$0.contains("secret") })
      for header in ["Basic \(RunningServer.readToken)", "Bearer", "Bearer  \(RunningServer.readToken)"] {
        let reply = try await WireClient(port: server.port, token: nil)(
          "GET", "/models", headers: ["Authorization: \(header)"])
        #expect(reply.status == 401, "\(header)")
      }
      #expect(try await WireClient(port: server.port, token: nil)("GET", "/health").status == 204)
    }
  }

  @Test("the letters of the scheme may be of either case, and nothing else may differ")
  func scheme() async throws {
    try await RunningServer.with(try Film.context([Film(1)])) { server in
      let client = WireClient(port: server.port, token: nil)
      let token = RunningServer.readToken
      for (header, status) in [
        ("bearer \(token)", 200), ("BEARER \(token)", 200), ("bEaReR \(token)", 200),
        ("Bearer\t\(token)", 401), ("Bearer_\(token)", 401), ("Bearers \(token)", 401), (token, 401),
        ("Bearer \(token.uppercased())", 401), ("Bearer \(token),", 401),
      ] {
        let reply = try await client("GET", "/models", headers: ["Authorization: \(header)"])
        #expect(reply.status == status, "\(header)")
      }
    }
  }

  @Test("a read token cannot write, and a write token can read")
  func readOnly() async throws {
    let context = try Film.context([Film(1)])
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port, token: RunningServer.readToken)
      for (method, path) in Self.requests
      where method != "GET" && method != "PATCH" && !path.hasSuffix("query") {
        let reply = try await client(method, path, "{}")
        #expect(reply.status == 403 && reply.code == "unauthorized", "\(method) \(path)")
      }
      #expect(try await client("GET", "/models/Film/records/1").status == 200)
      #expect(try await client("POST", "/models/Film/query", "{}").status == 200)
      let source = try RemoteServer(server.url, token: RunningServer.readToken).dataSource(of: Film.self)
      #expect(try await source.find(1) == Film(1))
      let error = await #expect(throws: PersistenceError.self) { try await source.save(Film(2)) }
      #expect(error?.code == .unauthorized)
      let stranger = try RemoteServer(server.url, token: "nobody").dataSource(of: Film.self)
      let refusal = await #expect(throws: PersistenceError.self) { try await stranger.find(1) }
      #expect(refusal?.code == .unauthorized)
      #expect(try await WireClient(port: server.port)("GET", "/models/Film/records/1").status == 200)
    }
  }

  @Test("weak tokens are rejected")
  func weak() {
    for (read, write) in [
      ([], []), (["short"], []), ([], ["with a space in it.."]), (["0123456789abcdef"], ["0123456789abcdef"]),
    ] {
      #expect(throws: PersistenceError.self) { try AccessTokens(read: read, write: write) }
    }
  }
}
