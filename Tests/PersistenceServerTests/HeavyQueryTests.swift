import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceServer
import Synchronization
import TestSupport
import Testing
import ToolProcess

/// A query with as many searches as a server permits, over records that take it much longer than these tests wait.
@Suite("R5 heavy queries on every engine, behind a server", .serialized)
struct HeavyQueryTests {
  /// A query that nobody waits for ends within this time, on a busy machine too.
  private static let soon = Duration.seconds(5)

  private static let condition =
    #"{"where":{"any":["#
    + (0..<1990).map {
      #"{"field":"text","contains":"\#(String(repeating: "a", count: 20))b\#($0)","caseInsensitive":true}"#
    }.joined(separator: ",") + "]}}"

  private static func request(_ token: String = RunningServer.readToken) -> String {
    "POST /models/Essay/count HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer \(token)\r\n"
      + "Content-Type: application/json\r\nContent-Length: \(condition.utf8.count)\r\n\r\n\(condition)"
  }

  /// A store of an engine, which counts the counts that run.
  private static func context(_ context: ContextUnderTest) throws -> RunningCounts {
    let repository = try context.makeStore().open()
    let text = String(repeating: "a", count: 2000)
    try repository.save(contentsOf: (0..<4000).map { Essay(id: $0, text: text) })
    return RunningCounts(try #require(repository.context.asStorageContext))
  }

  private static func expectSoon(_ what: String, _ body: () async throws -> Void) async throws {
    let start = ContinuousClock.now
    try await body()
    let time = ContinuousClock.now - start
    #expect(time < soon, "\(what) took \(time)")
  }

  @Test(
    "the engine stops when the client disconnects", .timeLimit(.minutes(2)), arguments: ContextUnderTest.ours)
  func disconnected(context: ContextUnderTest) async throws {
    let counts = try Self.context(context)
    var limits = ServerLimits()
    limits.requestTime = .seconds(3600)
    try await RunningServer.with(counts, limits: limits) { server in
      var connection: RawConnection? = try RawConnection(port: server.port)
      connection?.send(Self.request())
      try await counts.waitUntilRunning(1)
      try await Task.sleep(for: .seconds(1))
      #expect(counts.running.load(ordering: .sequentiallyConsistent) == 1, "the query is not heavy")
      connection = nil
      try await Self.expectSoon("the end of the query") { try await counts.waitUntilRunning(0) }
    }
    try counts.close()
  }

  @Test(
    "the time limit of the server ends it, and its thread serves others", .timeLimit(.minutes(2)),
    arguments: ContextUnderTest.ours)
  func timeLimit(context: ContextUnderTest) async throws {
    let counts = try Self.context(context)
    var limits = ServerLimits()
    (limits.requestTime, limits.readingThreads) = (.seconds(1), 1)
    try await RunningServer.with(counts, limits: limits) { server in
      let client = WireClient(port: server.port)
      try await Self.expectSoon("a limit of one second") {
        let late = try await client("POST", "/models/Essay/count", Self.condition)
        #expect(late.status == 503 && late.code == "timedOut", "\(late.status) \(late.body)")
      }
      try await Self.expectSoon("the end of the query") { try await counts.waitUntilRunning(0) }
      #expect(try await client("GET", "/models/Essay/records/1").status == 200)
    }
    try counts.close()
  }

  @Test(
    "the queries of one client leave a thread to others", .timeLimit(.minutes(2)),
    arguments: ContextUnderTest.ours)
  func fairness(context: ContextUnderTest) async throws {
    let counts = try Self.context(context)
    var limits = ServerLimits()
    limits.requestTime = .seconds(3600)
    (limits.readingThreads, limits.readsPerClient) = (2, 2)
    try await RunningServer.with(counts, limits: limits) { server in
      var greedy = try (0..<4).map { _ in try RawConnection(port: server.port) }
      for connection in greedy { connection.send(Self.request()) }
      try await counts.waitUntilRunning(1)
      let other = WireClient(port: server.port, token: RunningServer.writeToken)
      for _ in 0..<5 {
        try await Self.expectSoon("a look-up") {
          let found = try await other("GET", "/models/Essay/records/1")
          #expect(found.status == 200)
        }
      }
      #expect(counts.running.load(ordering: .sequentiallyConsistent) == 1)
      greedy.removeAll()
      try await Self.expectSoon("the end of the queries") { try await counts.waitUntilRunning(0) }
    }
    try counts.close()
  }

  @Test("a stop ends it within the server's grace", .timeLimit(.minutes(2)), arguments: ContextUnderTest.ours)
  func stopped(context: ContextUnderTest) async throws {
    let counts = try Self.context(context)
    var limits = ServerLimits()
    (limits.requestTime, limits.shutdownTime) = (.seconds(3600), .seconds(1))
    let server = try await RunningServer.start(counts, limits: limits)
    let connection = try RawConnection(port: server.port)
    connection.send(Self.request())
    try await counts.waitUntilRunning(1)
    try await Self.expectSoon("a stop with a grace of one second") {
      server.askToStop()
      try? await server.ended()
      try await counts.waitUntilRunning(0)
    }
    withExtendedLifetime(connection) {}
    try counts.close()
  }
}

/// A context that counts the counts that run.
private final class RunningCounts: StorageContextWrapper {
  let wrapped: any StorageContext
  let running = Atomic(0)

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func count(_ request: FetchRequest) throws -> Int {
    running.add(1, ordering: .sequentiallyConsistent)
    defer { running.subtract(1, ordering: .sequentiallyConsistent) }
    return try wrapped.count(request)
  }

  func waitUntilRunning(_ count: Int) async throws {
    try await until { running.load(ordering: .sequentiallyConsistent) == count }
  }
}

private struct Essay: PersistentRecord {
  var id: Int
  var text: String

  static let schema = RecordSchema<Essay>(
    "Essay", fields: [.field("id", \.id), .field("text", \.text)], key: [\.id])
  var primaryKey: Int { id }

  init(id: Int, text: String) { (self.id, self.text) = (id, text) }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    text = try row.decode(at: 1)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(text, at: 1)
  }
}
