import Foundation
import PersistencePrimitives
import PersistenceServer
import Testing
import ToolProcess

@Suite("HTTP in detail")
struct ProtocolTests {
  private static let authorization = "Host: x\r\nAuthorization: Bearer \(RunningServer.writeToken)\r\n"
  private static let film = #"{"budget":null,"day":null,"id":7,"title":"x"}"#

  @Test("Expect: 100-continue gets its permission before the body, unless the body is too long")
  func permission() async throws {
    var limits = ServerLimits()
    limits.bodySize = 1000
    try await RunningServer.with(try Film.context([]), limits: limits) { server in
      let head =
        "POST /models/Film/records HTTP/1.1\r\n\(Self.authorization)Content-Type: application/json\r\n"
        + "Connection: close\r\nExpect: 100-continue\r\nContent-Length: "
      let (permission, reply) = try await RawConnection.run(server.port) { connection in
        connection.send(head + "\(Self.film.utf8.count)\r\n\r\n")
        let permission = String(decoding: connection.receive(), as: UTF8.self)
        connection.send(Self.film)
        return (permission, connection.receiveAll())
      }
      #expect(permission == "HTTP/1.1 100 Continue\r\n\r\n")
      #expect(reply.hasPrefix("HTTP/1.1 201 "))
      let refused = try await RawConnection.run(server.port) { connection in
        connection.send(head + "1001\r\n\r\n")
        return String(decoding: connection.receive(), as: UTF8.self)
      }
      #expect(refused.hasPrefix("HTTP/1.1 413 "))
      let other = try await WireClient(port: server.port)("GET", "/models", headers: ["Expect: cake"])
      #expect(other.status == 417)
    }
  }

  @Test("HTTP/1.0 gets neither chunks nor an open connection, and needs no Host")
  func old() async throws {
    try await RunningServer.with(try Film.context((1...3).map { Film($0) })) { server in
      for accept in ["application/json", "application/x-ndjson"] {
        let text = try await RawConnection.run(server.port) { connection in
          connection.send(
            "GET /models/Film/records HTTP/1.0\r\nAccept: \(accept)\r\nConnection: keep-alive\r\nAuthorization: Bearer "
              + "\(RunningServer.readToken)\r\n\r\n")
          // It ends when the server closes the connection.
          return connection.receiveAll()
        }
        #expect(text.hasPrefix("HTTP/1.0 200 "), "\(text)")
        #expect(!text.lowercased().contains("transfer-encoding"))
        let reply = WireClient.parse(text)
        #expect(reply.headers["connection"] == "close")
        if accept == "application/json" {
          #expect(reply.json?.member("next") != nil)
        } else {
          #expect(reply.body.split(separator: "\n").count == 3)
        }
      }
    }
  }

  @Test("an answer to HEAD has no body, also of lines, and the next answer on its connection is intact")
  func head() async throws {
    try await RunningServer.with(try Film.context((1...3).map { Film($0) })) { server in
      let text = try await RawConnection.run(server.port) { connection in
        for accept in ["application/x-ndjson", "application/json"] {
          connection.send(
            "HEAD /models/Film/records HTTP/1.1\r\nAccept: \(accept)\r\n\(Self.authorization)\r\n")
        }
        connection.send("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return connection.receiveAll()
      }
      let heads = text.components(separatedBy: "\r\n\r\n").filter { !$0.isEmpty }
      #expect(heads.count == 3, "\(text)")
      #expect(heads.allSatisfy { $0.hasPrefix("HTTP/1.1 20") }, "\(text)")
      #expect(heads.first?.contains("application/x-ndjson") == true)
      #expect(heads.first?.lowercased().contains("content-length") == false)
    }
  }

  @Test("the qualities of Accept decide between a page and lines")
  func qualities() async throws {
    try await RunningServer.with(try Film.context([Film(1)])) { server in
      let client = WireClient(port: server.port)
      for (accept, type) in [
        ("application/x-ndjson", "application/x-ndjson"), ("*/*", "application/json"),
        ("application/x-ndjson;q=0", "application/json"),
        ("application/json, application/x-ndjson; q=0.0", "application/json"),
        ("application/json;q=0.5, application/x-ndjson;q=0.4", "application/json"),
        ("application/json;q=0.5, application/x-ndjson", "application/x-ndjson"),
        ("text/html, application/x-ndjson;q=0.1", "application/x-ndjson"),
      ] {
        let reply = try await client("GET", "/models/Film/records", headers: ["Accept: \(accept)"])
        #expect(reply.headers["content-type"] == type, "\(accept)")
      }
    }
  }

  @Test("a transfer coding other than chunked is rejected, and never taken for the body")
  func codings() async throws {
    try await RunningServer.with(try Film.context([])) { server in
      let reply = try await WireClient(port: server.port).raw(
        "POST /models/Film/records HTTP/1.1\r\n\(Self.authorization)Content-Type: application/json\r\n"
          + "Connection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2d\r\n\(Self.film)\r\n0\r\n\r\n")
      #expect(reply.status == 501)
      #expect(try await WireClient(port: server.port)("GET", "/models/Film/records/7").status == 404)
    }
  }

  @Test("If-Match on GET answers 412 for another state, and for any tag of a page, which is weak")
  func conditions() async throws {
    try await RunningServer.with(try Film.context([Film(1)])) { server in
      let client = WireClient(port: server.port)
      let path = "/models/Film/records/1"
      let tag = try #require(try await client("GET", path).headers["etag"])
      for (wanted, status) in [(tag, 200), ("*", 200), ("\"x\"", 412), ("W/\(tag)", 412), ("x", 400)] {
        let reply = try await client("GET", path, headers: ["If-Match: \(wanted)"])
        #expect(reply.status == status, "\(wanted)")
      }
      let page = "/models/Film/records"
      let weak = try #require(try await client("GET", page).headers["etag"])
      for (wanted, status) in [(weak, 412), ("\"x\"", 412), ("*", 200), ("x", 400)] {
        let reply = try await client("GET", page, headers: ["If-Match: \(wanted)"])
        #expect(reply.status == status, "\(wanted)")
      }
    }
  }

  @Test("a limit of zero answers no records, in both forms")
  func zero() async throws {
    try await RunningServer.with(try Film.context([Film(1)])) { server in
      let client = WireClient(port: server.port)
      let page = try await client("GET", "/models/Film/records?limit=0")
      #expect(page.status == 200 && page.body == #"{"records":[],"next":null}"#)
      let lines = try await client(
        "GET", "/models/Film/records?limit=0", headers: ["Accept: application/x-ndjson"])
      #expect(lines.status == 200 && lines.body.isEmpty)
    }
  }

  @Test("a malformed escape, an unknown parameter and an unknown field are errors of the client")
  func addresses() async throws {
    try await RunningServer.with(try Film.context([Film(1)])) { server in
      let client = WireClient(port: server.port)
      for path in [
        "/models/%", "/models/Film/records/%f", "/models/Film/records/%zz", "/models/Film/records/%ff",
        "/models/Film/records?limit=%", "/models/Film/records?limi=1", "/models/Film/records?where=nothing=1",
        "/models/Film/records?sort=nothing",
      ] {
        let reply = try await client("GET", path)
        #expect(reply.status == 400, "\(path)")
      }
    }
  }

  @Test("each kind of answer says what caches may do with it")
  func caching() async throws {
    try await RunningServer.with(try Film.context([Film(1)])) { server in
      func lines(_ request: String, _ body: String = "") async throws -> Set<String> {
        let type = "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        let rest = "Connection: close\r\n\(body.isEmpty ? "" : type)\r\n\(body)"
        let text = try await RawConnection.run(server.port) { connection in
          connection.send("\(request) HTTP/1.1\r\n\(Self.authorization)\(rest)")
          return connection.receiveAll()
        }
        let head = text.components(separatedBy: "\r\n\r\n")[0].lowercased()
        let lines = head.components(separatedBy: "\r\n").filter { line in
          ["cache-control:", "vary:", "x-content-type-options:"].contains { line.hasPrefix($0) }
        }
        #expect(lines.count == Set(lines).count, "\(head)")
        return Set(lines)
      }
      let all: Set = ["x-content-type-options: nosniff"]
      let read = all.union(["vary: accept", "vary: authorization"])
      let kept: Set = ["cache-control: private, no-cache"]
      let lost: Set = ["cache-control: no-store"]
      let packed: Set = ["vary: accept-encoding"]
      let film = #"{"budget":null,"day":null,"id":1,"title":"x"}"#
      var expected: [(request: String, body: String, lines: Set<String>)] = [
        ("PUT /models/Film/records/1", film, all.union(lost)),
        ("POST /models/Film/query", "{}", all.union(lost).union(packed)),
      ]
      for method in ["GET", "HEAD"] {
        expected += [
          ("\(method) /models/Film/records/1", "", read.union(kept)),
          ("\(method) /models/Film/records", "", read.union(kept).union(packed)),
          ("\(method) /models", "", read.union(lost).union(packed)),
          ("\(method) /models/Film/records/9", "", read.union(lost)),
        ]
      }
      for (request, body, wanted) in expected.reversed() {
        let found = try await lines(request, body)
        #expect(found == wanted, "\(request)")
      }
    }
  }

  @Test("a client cannot send the marks of the server's own handlers, and receives none")
  func marks() async throws {
    try await RunningServer.with(try Film.context((1...50).map { Film($0) })) { server in
      let client = WireClient(port: server.port)
      for sent in [
        [], ["Persistence-Refusal: host"], ["persistence-refusal: coding", "Persistence-Refusal: version"],
        ["Persistence-Compress: 1"],
      ] {
        for path in ["/models/Film/records/1", "/models/Film/records", "/models"] {
          for accepted in ["identity", "gzip"] {
            let reply = try await client("GET", path, headers: sent + ["Accept-Encoding: \(accepted)"])
            #expect(reply.status == 200, "\(path) \(sent)")
            #expect(!reply.headers.keys.contains { $0.hasPrefix("persistence") }, "\(path) \(sent)")
          }
        }
      }
      let refused = try await client(
        "GET", "/models", headers: ["Expect: cake", "Persistence-Refusal: version"])
      #expect(refused.status == 417)
    }
  }

  @Test("a silent connection is closed, and others keep their time for a head", .timeLimit(.minutes(1)))
  func silence() async throws {
    var limits = ServerLimits()
    limits.firstByteTime = .milliseconds(200)
    try await RunningServer.with(try Film.context([]), limits: limits) { server in
      let ends = try await RawConnection.run(server.port) { $0.receive() }
      #expect(ends.isEmpty)
      #expect(try await WireClient(port: server.port)("GET", "/health").status == 204)
    }
  }
}
