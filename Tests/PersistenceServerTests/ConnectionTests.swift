import DataAccess
import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceRemote
import PersistenceServer
import Synchronization
import TestSupport
import Testing
import ToolProcess

@Suite("Connections")
struct ConnectionTests {
  @Test(
    "connections of slow clients are closed, and others are served meanwhile",
    .timeLimit(.minutes(1)))
  func slow() async throws {
    var limits = ServerLimits()
    limits.headTime = .milliseconds(400)
    limits.bodyTime = .milliseconds(400)
    try await RunningServer.with(try Film.context([Film(1)]), limits: limits) { server in
      let port = server.port
      let heads = [
        "GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        "POST /batches HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(RunningServer.writeToken)\r\n"
          + "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n",
      ]
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for head in heads {
          for _ in 0..<5 {
            group.addTask {
              try await RawConnection.run(port) { connection in
                connection.send(head)
                // A bound: the server closes the connection long before.
                for _ in 0..<200 {
                  guard connection.send("a") else { return true }
                  usleep(20_000)
                }
                return false
              }
            }
          }
        }
        for _ in 0..<20 {
          #expect(try await WireClient(port: port)("GET", "/models/Film/records/1").status == 200)
        }
        for try await isCutOff in group { #expect(isCutOff) }
      }
    }
  }

  @Test(
    "a streamed answer reads only as much as its client takes, and ends when the client disconnects",
    .timeLimit(.minutes(1)))
  func gone() async throws {
    let text = String(repeating: "x", count: 1000)
    let counting = CountingContext(try Film.context((0..<30_000).map { Film($0, text) }))
    try await RunningServer.with(counting) { server in
      let port = server.port
      let received = try await RawConnection.run(port) { connection in
        connection.send(
          "GET /models/Film/records HTTP/1.1\r\nHost: x\r\nAccept: application/x-ndjson\r\nAuthorization: Bearer "
            + "\(RunningServer.readToken)\r\n\r\n")
        let first = connection.receive().count
        usleep(300_000)
        return first
      }
      #expect(received > 0)
      // The socket buffers hold a few megabytes of thirty.
      #expect(counting.rows.load(ordering: .relaxed) < 20_000)
      try await until { counting.alive.load(ordering: .relaxed) == 0 }
      #expect(try await WireClient(port: port)("GET", "/health").status == 204)
    }
  }

  @Test(
    "records of any length are streamed one by one, and none is lost between short ones",
    .timeLimit(.minutes(1)))
  func longRecords() async throws {
    let long = String(repeating: "x", count: 1 << 20)
    // Short records first, so that the estimate for the next chunk is high.
    let films = (0..<300).map { Film($0, $0 < 200 || $0 % 2 == 0 ? "t" : long) }
    let counting = CountingContext(try Film.context(films))
    try await RunningServer.with(counting) { server in
      let port = server.port
      try await RawConnection.run(port) { connection in
        connection.send(
          "GET /models/Film/records HTTP/1.1\r\nHost: x\r\nAccept: application/x-ndjson\r\nAuthorization: Bearer "
            + "\(RunningServer.readToken)\r\n\r\n")
        _ = connection.receive()
        usleep(500_000)
      }
      try await until { counting.alive.load(ordering: .relaxed) == 0 }
      // The socket buffers hold a few megabytes of fifty.
      #expect(counting.rows.load(ordering: .relaxed) < 260)
      let source = try RemoteServer(server.url, token: RunningServer.readToken).dataSource(of: Film.self)
      let all = try await source.filter(where: \.id < 208).result()
      #expect(all.map(\.id) == Array(0..<208))
      #expect(all.allSatisfy { $0.title.utf8.count == films[$0.id].title.utf8.count })
    }
  }

  @Test("the health check answers at once while the store is busy", .timeLimit(.minutes(1)))
  func health() async throws {
    var limits = ServerLimits()
    limits.requestTime = .milliseconds(300)
    limits.readingThreads = 1
    let counting = CountingContext(try Film.context([Film(1)]))
    let gate = DispatchSemaphore(value: 0)
    counting.gate.withLock { $0 = gate }
    try await RunningServer.with(counting, limits: limits) { server in
      let client = WireClient(port: server.port)
      // The only reading thread is now blocked, although the client has its answer.
      let taking = try await client("GET", "/models/Film/records")
      let waiting = try await client("GET", "/models")
      #expect(taking.code == "timedOut" && waiting.code == "timedOut")
      #expect(try await client("GET", "/health").status == 204)
      counting.gate.withLock { $0 = nil }
      gate.signal()
    }
  }

  @Test(
    "a stopped server answers the requests in flight and accepts no others", .timeLimit(.minutes(1))
  )
  func stopping() async throws {
    let counting = CountingContext(try Film.context([Film(1)]))
    let server = try await RunningServer.start(counting)
    counting.gate.withLock { $0 = DispatchSemaphore(value: 0) }
    async let answer = WireClient(port: server.port)("GET", "/models/Film/records")
    try await until { counting.waiting.load(ordering: .relaxed) == 1 }
    server.askToStop()
    try await until { (try? await WireClient(port: server.port)("GET", "/health").status) != 204 }
    counting.gate.withLock { $0 }?.signal()
    #expect(try await answer.status == 200)
    try await server.ended()
  }

  @Test("slow work times out, and excess requests are rejected as busy", .timeLimit(.minutes(1)))
  func tooLong() async throws {
    var limits = ServerLimits()
    // Two requests of one moment arrive within it, also on a busy machine.
    limits.requestTime = .seconds(2)
    limits.readingThreads = 1
    limits.waitingRequests = 1
    let counting = CountingContext(try Film.context([Film(1)]))
    let gate = DispatchSemaphore(value: 0)
    counting.gate.withLock { $0 = gate }
    try await RunningServer.with(counting, limits: limits) { server in
      let client = WireClient(port: server.port)
      let late = try await client("GET", "/models/Film/records")
      #expect(late.status == 503 && late.code == "timedOut")
      #expect(late.headers["retry-after"] != nil)
      async let waiting = client("GET", "/models/Film/records")
      async let other = client("GET", "/models/Film/records")
      let codes = Set([try await waiting.code, try await other.code])
      #expect(codes == ["timedOut", "busy"])
      counting.gate.withLock { $0 = nil }
      gate.signal()
      try await until { try await client("GET", "/models/Film/records").status == 200 }
    }
  }

  @Test(
    "a stopped server is unreachable, a silent one times out, and a cancelled call is cancelled"
  )
  func unreachable() async throws {
    let server = try await RunningServer.start(try Film.context([Film(1)]))
    let url = server.url
    server.askToStop()
    try await server.ended()
    let gone = try RemoteServer(url, token: "x").dataSource(of: Film.self)
    let error = await #expect(throws: PersistenceError.self) { try await gone.find(1) }
    #expect(error?.code == .unreachable)
    #expect(error?.isRetryable == true)

    let counting = CountingContext(try Film.context([Film(1)]))
    let gate = DispatchSemaphore(value: 0)
    counting.gate.withLock { $0 = gate }
    try await RunningServer.with(counting) { server in
      var options = RemoteOptions()
      options.requestTime = .milliseconds(300)
      let source = try RemoteServer(server.url, token: RunningServer.readToken, options: options).dataSource(
        of: Film.self)
      let late = await #expect(throws: PersistenceError.self) { try await source.find(1) }
      #expect(late?.code == .timedOut)
      let patient = try RemoteServer(server.url, token: RunningServer.readToken).dataSource(of: Film.self)
      let before = counting.waiting.load(ordering: .relaxed)
      let task = Task { try await patient.find(1) }
      try await until { counting.waiting.load(ordering: .relaxed) > before }
      task.cancel()
      let cancelled = await #expect(throws: PersistenceError.self) { try await task.value }
      #expect(cancelled?.code == .cancelled)
      for _ in 0..<4 { gate.signal() }
    }
  }
}

/// A context that counts results and rows, and can block readers.
final class CountingContext: StorageContextWrapper {
  let wrapped: any StorageContext
  let alive = Atomic(0)
  let rows = Atomic(0)
  let waiting = Atomic(0)
  let gate = Mutex<DispatchSemaphore?>(nil)

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func fetch(_ request: FetchRequest) throws -> any StorageResults {
    wait()
    return Results(try wrapped.fetch(request), self)
  }

  func catalog() throws -> [ModelSchema] {
    let catalog = try wrapped.catalog()
    return catalog
  }

  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    wait()
    return try wrapped.find(key, in: schema, body)
  }

  private func wait() {
    guard let semaphore = gate.withLock(\.self) else { return }
    waiting.add(1, ordering: .relaxed)
    semaphore.wait()
  }

  private final class Results: StorageResultsWrapper {
    let wrapped: any StorageResults
    private let context: CountingContext

    init(_ wrapped: any StorageResults, _ context: CountingContext) {
      self.wrapped = wrapped
      self.context = context
      context.alive.add(1, ordering: .relaxed)
    }

    deinit { context.alive.subtract(1, ordering: .relaxed) }

    func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
      try wrapped.read(from: offset, limit: limit) { row in
        context.rows.add(1, ordering: .relaxed)
        try body(row)
      }
    }
  }
}
