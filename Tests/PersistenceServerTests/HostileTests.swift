import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceServer
import Testing

@Suite("Hostile requests")
struct HostileTests {
  private static let deep = String(repeating: "[", count: 20_000)
  private static let deepCondition =
    "{\"where\":" + String(repeating: "{\"not\":", count: 200) + "true" + String(repeating: "}", count: 200)
    + "}"

  private static let bodies: [(String, String, String, Int)] = [
    ("POST", "/models/Film/records", "", 400), ("POST", "/models/Film/records", "{", 400),
    ("POST", "/models/Film/records", deep, 400), ("POST", "/models/Film/records", "[]", 400),
    ("POST", "/models/Film/records", "{\"id\":1.5,\"title\":\"x\"}", 400),
    ("POST", "/models/Film/records", "{\"id\":\"1\",\"title\":\"x\"}", 400),
    ("POST", "/models/Film/records", "{\"id\":99999999999999999999,\"title\":\"x\"}", 400),
    ("POST", "/models/Film/records", "{\"id\":1e999999999,\"title\":\"x\"}", 400),
    ("POST", "/models/Film/records", "{\"id\":7}", 400),
    ("POST", "/models/Film/records", "{\"id\":7,\"title\":null}", 400),
    ("POST", "/models/Film/records", "{\"id\":7,\"title\":\"x\",\"other\":1}", 400),
    ("POST", "/models/Film/records", "{\"id\":7,\"id\":8,\"title\":\"x\"}", 400),
    ("POST", "/models/Film/records", "{\"id\":7,\"title\":\"\\ud800\"}", 400),
    ("POST", "/models/Film/records", "{\"id\":7,\"title\":\"x\",\"budget\":1e400}", 400),
    ("PUT", "/models/Film/records/8", "{\"id\":7,\"title\":\"x\"}", 400),
    ("PUT", "/models/Film/records/x", "{\"id\":7,\"title\":\"x\"}", 400),
    ("PUT", "/models/Film/records/1/2", "{\"id\":7,\"title\":\"x\"}", 400),
    ("POST", "/models/Nothing/records", "{}", 404),
    ("POST", "/models/persistence.batches/records", "{}", 404),
    ("POST", "/models/..%2F..%2Fetc%2Fpasswd/records", "{}", 404),
    ("POST", "/models/Film/query", deepCondition, 400),
    ("POST", "/models/Film/query", "{\"where\":{\"field\":\"nothing\",\"is\":\"==\",\"value\":1}}", 400),
    ("POST", "/models/Film/query", "{\"where\":{\"field\":\"title\",\"is\":\"==\",\"value\":1}}", 400),
    ("POST", "/models/Film/query", "{\"where\":{\"field\":\"title\",\"matches\":\"(((\"}}", 400),
    ("POST", "/models/Film/query", "{\"limit\":-1}", 400),
    ("POST", "/models/Film/query", "{\"limit\":1e9}", 400),
    ("POST", "/models/Film/query", "{\"drop\":true}", 400),
    ("POST", "/models/Film/query", "{\"after\":[1,2,3]}", 400),
    ("POST", "/models/Film/query", "{\"sort\":[\"nothing\"]}", 400),
    ("POST", "/batches", "{\"changes\":[{\"model\":\"Film\"}]}", 400),
    ("POST", "/batches", "{\"changes\":[{\"model\":\"Nothing\",\"insert\":{}}]}", 409),
    ("POST", "/batches", "{\"id\":\"x\",\"changes\":[]}", 400),
    ("PUT", "/models/Other", "{\"name\":\"Film\",\"fields\":[],\"key\":[],\"indexes\":[]}", 400),
    (
      "PUT", "/models/persistence.x",
      "{\"name\":\"persistence.x\",\"fields\":[{\"name\":\"id\",\"kind\":\"int64\",\"isOptional\":false}],\"key\":[\"id\"],\"indexes\":[]}",
      400
    ),
    (
      "PUT", "/models/Film",
      "{\"name\":\"Film\",\"fields\":[{\"name\":\"id\",\"kind\":\"string\",\"isOptional\":false}],\"key\":[\"id\"],\"indexes\":[]}",
      409
    ),
  ]

  private static let paths: [(String, Int)] = [
    ("/", 404), ("//", 404), ("/models/", 404), ("/models/Film/records/%", 400),
    ("/models/Film/records/%ff", 400),
    ("/models/Film/records/%zz", 400), ("/../../etc/passwd", 404), ("/models/%2e%2e/records", 404),
    ("/models/Film/records?limit=x", 400), ("/models/Film/records?limit=-1", 400),
    ("/models/Film/records?limit=99999", 400), ("/models/Film/records?where=", 400),
    ("/models/Film/records?where=title%20=%20", 400), ("/models/Film/records?where=nothing=1", 400),
    ("/models/Film/records?where=%ff", 400), ("/models/Film/records?sort=,", 400),
    ("/models/Film/records?after=xyz", 400), ("/models/Film/records?limit=1&limit=2", 400),
    ("/models/Film/records?where=title%20like%20'%25'%20;%20drop%20table%20Film", 400),
    ("/models/Film/records?where=" + String(repeating: "(", count: 5000), 400),
    ("/models/Film/records?where=" + String(repeating: "a", count: 15_000), 400),
    ("/models/Film/records?where=" + String(repeating: "a", count: 17_000), 414),
    ("/models/Film/records/9223372036854775808", 400), ("/models/Film/records/+1", 400),
  ]

  @Test(
    "each gets a problem that reveals nothing about the machine, and the next request works",
    arguments: ContextUnderTest.ours)
  func refused(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    let storage = try #require(repository.context.asStorageContext)
    try repository.insert(Film(1))
    try await RunningServer.with(storage) { server in
      let client = WireClient(port: server.port)
      func check(_ reply: WireClient.Reply, _ status: Int, _ what: String) {
        #expect(reply.status == status, "\(what.prefix(200)): \(reply.body.prefix(300))")
        #expect(reply.headers["content-type"] == "application/problem+json", "\(what.prefix(200))")
        #expect(reply.code != nil)
        for leak in [storage.location, "/dev/shm", "/tmp", "SQLite", "sqlite", "LMDB", ".swift"] {
          #expect(!reply.body.contains(leak), "\(what.prefix(200)) shows \(leak)")
        }
      }
      for (method, path, body, status) in Self.bodies {
        check(try await client(method, path, body), status, "\(method) \(path) \(body)")
      }
      for (path, status) in Self.paths { check(try await client("GET", path), status, path) }
      check(try await client("POST", "/models/Film/records", "{}", type: "text/plain"), 415, "type")
      check(try await client("PATCH", "/models/Film/records", "{}"), 405, "method")
      check(
        try await client("POST", "/batches", "{\"changes\":[]}", headers: ["Idempotency-Key: x"]), 400, "key")
      check(
        try await client("GET", "/models/Film/records/1", headers: ["If-None-Match: x"]), 400, "tag")
      #expect(try await client("GET", "/models/Film/records").json?.member("next") != nil)
      #expect(try repository.count(Film.self) == 1)
      #expect(try storage.catalog().map(\.name) == ["Film"])
    }
    try storage.close()
  }

  @Test("a body above the limit is not read to its end, with or without a length")
  func long() async throws {
    var limits = ServerLimits()
    limits.bodySize = 10_000
    try await RunningServer.with(try Film.context([]), limits: limits) { server in
      let client = WireClient(port: server.port)
      let body = "{\"id\":1,\"title\":\"\(String(repeating: "x", count: 20_000))\"}"
      let announced = try await client("POST", "/models/Film/records", body)
      #expect(announced.status == 413)
      let chunks = "2710\r\n" + String(repeating: " ", count: 10_000) + "\r\n"
      let chunked = try await client.raw(
        "POST /models/Film/records HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer "
          + "\(RunningServer.writeToken)\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
          + String(repeating: chunks, count: 3) + "0\r\n\r\n")
      #expect(chunked.status == 413)
      #expect(try await client("GET", "/health").status == 204)
    }
  }

  @Test("a malformed or endless head is rejected and its connection closed")
  func heads() async throws {
    try await RunningServer.with(try Film.context([])) { server in
      let client = WireClient(port: server.port)
      let bombs = [
        "GET /health HTTP/1.1\r\nHost: x\r\n" + String(repeating: "X-A: b\r\n", count: 5000) + "\r\n",
        "GET /health HTTP/1.1\r\nHost: x\r\nX-Long: \(String(repeating: "b", count: 200_000))\r\n\r\n",
        "GET /\(String(repeating: "b", count: 300_000)) HTTP/1.1\r\nHost: x\r\n\r\n",
        "\u{1}\u{2}\u{3}\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET\r\n\r\n",
        "POST /batches HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        "POST /batches HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        String(repeating: "A", count: 500_000),
      ]
      for bomb in bombs {
        let reply = try await client.raw(bomb)
        #expect([0, 400, 401, 414, 431, 505].contains(reply.status), "\(bomb.prefix(80)): \(reply.status)")
        #expect(try await client("GET", "/health").status == 204)
      }
    }
  }
}
