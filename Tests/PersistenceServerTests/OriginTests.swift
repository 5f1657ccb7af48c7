import Testing

@Suite("Web pages of other origins")
struct OriginTests {
  private static let origin = "https://movies.example"
  private static let preflight = [
    "Origin: \(origin)", "Access-Control-Request-Method: PUT",
    "Access-Control-Request-Headers: authorization, content-type, if-match",
  ]

  @Test("an allowed origin may ask before its request without a token, and may read answers and problems")
  func allowed() async throws {
    try await RunningServer.with(try Film.context([Film(1)]), origins: [Self.origin]) { server in
      let asked = try await WireClient(port: server.port, token: nil)(
        "OPTIONS", "/models/Film/records/1", headers: Self.preflight)
      #expect(asked.status == 204)
      #expect(asked.headers["access-control-allow-origin"] == Self.origin)
      #expect(asked.headers["access-control-allow-methods"]?.contains("PUT") == true)
      let allowed = asked.headers["access-control-allow-headers"]?.lowercased() ?? ""
      for name in ["authorization", "content-type", "if-match", "if-none-match", "idempotency-key"] {
        #expect(allowed.contains(name), "\(name)")
      }
      for path in ["/models/Film/records/1", "/models/Film/records/2"] {
        let reply = try await WireClient(port: server.port)("GET", path, headers: ["Origin: \(Self.origin)"])
        #expect(reply.headers["access-control-allow-origin"] == Self.origin, "\(path)")
        #expect(reply.headers["access-control-expose-headers"]?.contains("ETag") == true)
      }
      let stranger = try await WireClient(port: server.port, token: nil)(
        "GET", "/models", headers: ["Origin: \(Self.origin)"])
      #expect(stranger.status == 401)
    }
  }

  @Test("any other origin gets no permission, and without a list nobody does")
  func others() async throws {
    for origins in [[], [Self.origin]] {
      try await RunningServer.with(try Film.context([Film(1)]), origins: origins) { server in
        let headers = Self.preflight.map { $0.replacing(Self.origin, with: "https://evil.example") }
        let asked = try await WireClient(port: server.port, token: nil)(
          "OPTIONS", "/models", headers: headers)
        #expect(asked.headers["access-control-allow-origin"] == nil)
        #expect(asked.headers["access-control-allow-methods"] == nil)
        let reply = try await WireClient(port: server.port)(
          "GET", "/models/Film/records/1", headers: ["Origin: https://evil.example"])
        #expect(reply.status == 200 && reply.headers["access-control-allow-origin"] == nil)
      }
    }
  }

  @Test("a star permits every origin")
  func star() async throws {
    try await RunningServer.with(try Film.context([Film(1)]), origins: ["*"]) { server in
      let reply = try await WireClient(port: server.port)(
        "GET", "/models/Film/records/1", headers: ["Origin: https://any.example"])
      #expect(reply.headers["access-control-allow-origin"] == "*")
    }
  }
}
