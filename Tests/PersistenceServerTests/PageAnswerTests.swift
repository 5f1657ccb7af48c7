import Foundation
import PersistenceCore
import PersistenceDriver
import PersistencePrimitives
import PersistenceServer
import Synchronization
import Testing
import TestSupport
import ToolProcess

@Suite("Pages, and what describes them")
struct PageAnswerTests {
  @Test("a long page is read only as its client takes it, and arrives whole", .timeLimit(.minutes(1)))
  func streamed() async throws {
    let text = String(repeating: "x", count: 5000)
    let films = (0..<6000).map { Film($0, text) }
    let counting = CountingContext(try Film.context(films))
    var limits = ServerLimits()
    (limits.pageSize, limits.pageBytes) = (6000, 64 << 20)
    try await RunningServer.with(counting, limits: limits) { server in
      let path = "/models/Film/records?limit=5999"
      var stalled: RawConnection? = try RawConnection(port: server.port)
      stalled?.send(
        "GET \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(RunningServer.readToken)\r\n\r\n")
      let whole = try await WireClient(port: server.port)("GET", path)
      guard case .array(let records)? = whole.json?.member("records") else {
        Issue.record("\(whole.body.prefix(200))")
        return
      }
      #expect(records.count == 5999)
      #expect(whole.body.contains(#""id":5998,"#) && !whole.body.contains(#""id":5999,"#))
      guard case .string(let next)? = whole.json?.member("next") else {
        Issue.record("the page has no next one")
        return
      }
      let rest = try await WireClient(port: server.port)("GET", "/models/Film/records?after=\(next)")
      #expect(rest.body.hasSuffix(#""next":null}"#) && rest.body.contains(#""id":5999,"#))
      // One whole answer, and what the buffers hold of the stalled one: a few megabytes of thirty.
      #expect(counting.rows.load(ordering: .relaxed) < 10_000)
      stalled = nil
      try await until { counting.alive.load(ordering: .relaxed) == 0 }
      let metrics = WireClient(port: server.port)
      try await until { try await metrics("GET", "/metrics").body.contains("persistence_answer_bytes 0\n") }
    }
  }

  @Test("a page that is requested again shows the newest state, under the same link")
  func again() async throws {
    let context = try Film.context((0..<5).map { Film($0) })
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port)
      for last in 4...7 {
        let page = try await client("GET", "/models/Film/records?limit=2&offset=1&sort=-id&select=id")
        #expect(page.body.hasPrefix(#"{"records":[{"id":\#(last - 1)},{"id":\#(last - 2)}],"next":""#))
        guard case .string(let next)? = page.json?.member("next") else {
          Issue.record("the page has no next one")
          return
        }
        let rest = "/models/Film/records?limit=2&sort=-id&select=id&after=\(next)"
        #expect(page.headers["link"] == "<\(rest)>; rel=\"next\"")
        let following = try await client("GET", rest)
        #expect(following.body.hasPrefix(#"{"records":[{"id":\#(last - 3)},{"id":\#(last - 4)}],"next":"#))
        try Film.insert([Film(last + 1)], in: context)
      }
    }
  }

  @Test("V3 pages whose conditions have two normal forms of one text differ, also when requested again")
  func normalForms() async throws {
    let context = try Film.context([Film(0, "\u{E9}"), Film(1, "e\u{301}")])
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port)
      for _ in 0..<3 {
        for (id, title) in ["%C3%A9", "e%CC%81"].enumerated() {
          let page = try await client("GET", "/models/Film/records?select=id&where=title='\(title)'")
          let expected = #"{"records":[{"id":\#(id)}],"next":null}"#
          #expect(page.body == expected)
        }
      }
    }
  }

  @Test("a page that reaches its size limit ends early with a token, also in later chunks")
  func limited() async throws {
    let text = String(repeating: "x", count: 50_000)
    var limits = ServerLimits()
    limits.pageBytes = 400_000
    try await RunningServer.with(try Film.context((0..<20).map { Film($0, text) }), limits: limits) {
      server in
      let client = WireClient(port: server.port)
      var (found, path) = ([String](), "/models/Film/records?limit=20")
      for _ in 0..<10 {
        let page = try await client("GET", path)
        guard case .array(let records)? = page.json?.member("records") else { break }
        #expect(records.count <= 9)
        for case .number(let id)? in records.map({ $0.member("id") }) { found.append(id) }
        guard case .string(let next)? = page.json?.member("next") else { break }
        path = "/models/Film/records?limit=20&after=\(next)"
      }
      #expect(found == (0..<20).map { "\($0)" })
    }
  }

  @Test("a page has a tag that a cache can check, a link to the next one, and a total if asked for")
  func described() async throws {
    let context = try Film.context((1...5).map { Film($0, $0 < 5 ? "a" : "b") })
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port)
      let path = "/models/Film/records?where=title%20%3D%20'a'&limit=2"
      let page = try await client("GET", path, headers: ["Prefer: count=exact"])
      #expect(page.headers["content-range"] == "records */4")
      #expect(page.headers["cache-control"] == "private, no-cache")
      let tag = try #require(page.headers["etag"])
      let cached = try await client("GET", path, headers: ["If-None-Match: \(tag)"])
      #expect(cached.status == 304 && cached.body.isEmpty && cached.headers["etag"] == tag)
      let link = try #require(page.headers["link"])
      let target = try #require(link.split(separator: ">").first?.dropFirst())
      #expect(link.hasSuffix("; rel=\"next\""))
      let next = try await client("GET", String(target))
      #expect(next.status == 200 && next.body.contains("\"id\":3") && next.headers["link"] == nil)
      #expect(next.headers["content-range"] == nil)
      #expect(try await client("PUT", "/models/Film/records/1", #"{"id":1,"title":"c"}"#).status == 200)
      let changed = try await client("GET", path, headers: ["If-None-Match: \(tag)"])
      #expect(changed.status == 200 && changed.headers["etag"] != tag)
      let written = try await client("PUT", "/models/Film/records/9", #"{"id":9,"title":"x"}"#)
      #expect(written.headers["cache-control"] == "no-store")
    }
  }

  @Test("long answers are compressed for clients that accept it, and records never are")
  func compressed() async throws {
    let long = String(repeating: "x", count: 5000)
    try await RunningServer.with(try Film.context((1...20).map { Film($0, long) })) { server in
      let client = WireClient(port: server.port)
      let plain = try await client("GET", "/models/Film/records")
      #expect(plain.headers["content-encoding"] == nil && plain.body.utf8.count > 100_000)
      for accept in ["application/json", "application/x-ndjson"] {
        let headers = ["Accept-Encoding: gzip", "Accept: \(accept)"]
        let packed = try await client("GET", "/models/Film/records", headers: headers)
        #expect(packed.headers["content-encoding"] == "gzip" && packed.body.utf8.count < 50_000, "\(accept)")
      }
      let refused = try await client("GET", "/models/Film/records", headers: ["Accept-Encoding: gzip;q=0"])
      #expect(refused.headers["content-encoding"] == nil && refused.body == plain.body)
      let record = try await client("GET", "/models/Film/records/1", headers: ["Accept-Encoding: gzip"])
      #expect(record.headers["content-encoding"] == nil && record.headers["etag"] != nil)
      // The framework answers a malformed head itself.
      let malformed = try await client.raw("GET\r\n\r\n")
      #expect([0, 400].contains(malformed.status))
      #expect(try await client("GET", "/health").status == 204)
    }
  }

  @Test("a compressed body is read, and one that is too long or damaged is rejected")
  func packedBodies() async throws {
    var limits = ServerLimits()
    limits.bodySize = 10_000
    try await RunningServer.with(try Film.context([]), limits: limits) { server in
      func post(_ body: [UInt8], coding: String = "gzip") async throws -> WireClient.Reply {
        let head =
          "POST /models/Film/records HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer "
          + "\(RunningServer.writeToken)\r\nContent-Type: application/json\r\nContent-Encoding: \(coding)\r\n"
          + "Content-Length: \(body.count)\r\n\r\n"
        return try await RawConnection.run(server.port) { connection in
          connection.send(Array(head.utf8) + body)
          return WireClient.parse(connection.receiveAll())
        }
      }
      #expect(try await post(Gzip.stored(#"{"id":7,"title":"x"}"#)).status == 201)
      #expect(try await post(Gzip.stored(String(repeating: " ", count: 20_000))).status == 413)
      var damaged = Gzip.stored(#"{"id":8,"title":"x"}"#)
      damaged[damaged.count - 8] ^= 0xFF  // the checksum
      let refused = try await post(damaged)
      #expect([400, 413].contains(refused.status))
      #expect(try await post(Array("x".utf8), coding: "br").status == 415)
      let client = WireClient(port: server.port)
      #expect(try await client("GET", "/models/Film/records/7").status == 200)
      #expect(try await client("GET", "/models/Film/records/8").status == 404)
    }
  }

  @Test("readiness needs no token and shows whether the store can be read; metrics need one")
  func monitoring() async throws {
    let context = try Film.context([Film(1)])
    try await RunningServer.with(context) { server in
      let stranger = WireClient(port: server.port, token: nil)
      #expect(try await stranger("GET", "/ready").status == 204)
      #expect(try await stranger("GET", "/metrics").status == 401)
      let client = WireClient(port: server.port)
      _ = try await client("GET", "/models/Film/records/2")
      let metrics = try await client("GET", "/metrics")
      #expect(metrics.headers["content-type"]?.hasPrefix("text/plain") == true)
      for line in [
        "persistence_requests_total{method=\"GET\",status=\"204\"} 1",
        "persistence_requests_total{method=\"GET\",status=\"401\"} 1",
        "persistence_requests_total{method=\"GET\",status=\"404\"} 1", "persistence_request_seconds_count 3",
      ] {
        #expect(metrics.body.contains(line + "\n"), "\(line) in \(metrics.body)")
      }
      try context.close()
      #expect(try await stranger("GET", "/ready").status == 503)
      #expect(try await stranger("GET", "/health").status == 204)
    }
  }
}

/// Gzip without compression, for requests.
enum Gzip {
  static func stored(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    let (size, crc) = (UInt16(bytes.count), crc32(bytes))
    func little(_ value: UInt32, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
    }
    return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF, 1] + little(UInt32(size), 2) + little(UInt32(~size), 2)
      + bytes
      + little(crc, 4) + little(UInt32(bytes.count), 4)
  }

  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    var crc: UInt32 = ~0
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    return ~crc
  }
}
