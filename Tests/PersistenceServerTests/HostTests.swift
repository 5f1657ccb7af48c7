import PersistenceServer
import Testing
import ToolProcess

@Suite("Host names")
struct HostTests {
  private static func status(_ port: Int, _ hosts: [String], target: String = "/models/Film/records")
    async throws
    -> Int
  {
    let names = hosts.map { "Host: \($0)\r\n" }.joined()
    return try await WireClient(port: port).raw(
      "GET \(target) HTTP/1.1\r\n\(names)Authorization: Bearer \(RunningServer.readToken)\r\nConnection: close\r\n\r\n"
    ).status
  }

  @Test("without tokens, only the names of this machine are answered, so that no web page can rebind its own")
  func rebinding() async throws {
    try await RunningServer.with(try Film.context([Film(1)]), tokens: .open) { server in
      let port = server.port
      for host in [
        "localhost", "LOCALHOST:\(port)", "localhost.", "127.0.0.1", "127.0.0.1:\(port)", "[::1]:1",
      ] {
        let status = try await Self.status(port, [host])
        #expect(status == 200, "\(host)")
      }
      for host in [
        "evil.example", "localhost.evil.example", "evil.example:\(port)", "127.0.0.1.evil.example", "0.0.0.0",
      ] {
        let status = try await Self.status(port, [host])
        #expect(status == 421, "\(host)")
      }
      let other = try await Self.status(port, ["localhost"], target: "http://evil.example/models")
      let own = try await Self.status(port, ["localhost"], target: "http://localhost/models")
      #expect(other == 421 && own == 200)
      let put = try await WireClient(port: port).raw(
        "PUT /models/Film/records/1 HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\n"
          + "Content-Length: 20\r\nConnection: close\r\n\r\n{\"id\":1,\"title\":\"x\"}")
      #expect(put.status == 421 && put.code == "unauthorized")
      let film = try await WireClient(port: port)("GET", "/models/Film/records/1")
      #expect(film.body.contains(#""title":"t""#))
    }
  }

  @Test("listed names are answered, with and without tokens, and others are not")
  func listed() async throws {
    for tokens in [AccessTokens.open, nil] {
      let context = try Film.context([])
      try await RunningServer.with(context, tokens: tokens, hostNames: ["movies.example", "::2"]) { server in
        for host in ["movies.example", "Movies.Example:8080", "[::2]", "localhost"] {
          let status = try await Self.status(server.port, [host])
          #expect(status == 200, "\(host)")
        }
        let other = try await Self.status(server.port, ["other.example"])
        #expect(other == 421)
      }
    }
  }

  @Test("a server with tokens answers any name; none, two and malformed ones are rejected")
  func malformed() async throws {
    try await RunningServer.with(try Film.context([])) { server in
      let named = try await Self.status(server.port, ["any.example"])
      #expect(named == 200)
      let invalid = [
        [], ["a.example", "a.example"], [""], ["a b"], ["a/b"], ["a@b"], ["a:b"], ["a:123456"], ["[::1"],
        ["[]"],
        ["[::1]x"], ["a,b"], [":80"],
      ]
      for hosts in invalid {
        let status = try await Self.status(server.port, hosts)
        #expect(status == 400, "\(hosts)")
      }
      let nameless = try await Self.status(server.port, ["a"], target: "http:///models")
      #expect(nameless == 400)
    }
  }
}
