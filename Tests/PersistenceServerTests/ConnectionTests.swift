import DataAccess
import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceRemote
import PersistenceServer
import Synchronization
import Testing
import ToolProcess
import PersistenceDriverSupport

@Suite("Connections")
struct ConnectionTests {
  @Test(
    "clients that send a byte now and then are cut off, and others are served meanwhile",
    .timeLimit(.minutes(1)))
  func slow() async throws {
    var limits = ServerLimits()
    limits.headTime = .milliseconds(400)
    limits.bodyTime = .milliseconds(400)
    try await RunningServer.with(try Film.context([Film(1)]), limits: limits) { server in
      let port = server.port
      let heads = [
        "GET /health HTTP/1.1\r\nX-Slow: ",
        "POST /batches HTTP/1.1\r\nAuthorization: Bearer \(RunningServer.writeToken)\r\n"
          + "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n",
      ]
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for head in heads {
          for _ in 0..<5 {
            group.addTask {
              try await RawConnection.run(port) { connection in
                connection.send(head)
                // Bounded: the server is to close long before.
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
    "a streamed answer reads only what its client takes, and is released when the client goes",
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
      // The sockets' buffers hold some megabytes at most, of thirty.
      #expect(counting.rows.load(ordering: .relaxed) < 20_000)
      try await until { counting.alive.load(ordering: .relaxed) == 0 }
      #expect(try await WireClient(port: port)("GET", "/health").status == 204)
    }
  }

  @Test(
    "records as long as a store keeps them are streamed one by one, and none is lost between short ones",
    .timeLimit(.minutes(1)))
  func longRecords() async throws {
    let long = String(repeating: "x", count: 1 << 20)
    // Short ones first, so that many are expected to fit.
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
      // The sockets' buffers hold some megabytes at most, of fifty.
      #expect(counting.rows.load(ordering: .relaxed) < 260)
      let store = try RemoteServer(server.url, token: RunningServer.readToken).dataSource(of: Film.self)
      let all = try await store.filter(where: \.id < 208).result()
      #expect(all.map(\.id) == Array(0..<208))
      #expect(all.allSatisfy { $0.title.utf8.count == films[$0.id].title.utf8.count })
    }
  }

  @Test("that the server is there is said at once, however busy the store is", .timeLimit(.minutes(1)))
  func health() async throws {
    var limits = ServerLimits()
    limits.requestTime = .milliseconds(300)
    limits.readingThreads = 1
    let counting = CountingContext(try Film.context([Film(1)]))
    let gate = DispatchSemaphore(value: 0)
    counting.gate.withLock { $0 = gate }
    try await RunningServer.with(counting, limits: limits) { server in
      let client = WireClient(port: server.port)
      // From now on the one thread that reads is taken, though the client has its answer.
      let taking = try await client("GET", "/models/Film/records")
      let waiting = try await client("GET", "/models")
      #expect(taking.code == "timedOut" && waiting.code == "timedOut")
      #expect(try await client("GET", "/health").status == 204)
      counting.gate.withLock { $0 = nil }
      gate.signal()
    }
  }

  @Test(
    "a server that is told to stop answers what it was asked, and takes nothing more", .timeLimit(.minutes(1))
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

  @Test("work that takes too long is answered, and too much work is refused", .timeLimit(.minutes(1)))
  func tooLong() async throws {
    var limits = ServerLimits()
    limits.requestTime = .milliseconds(300)
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
    "a server that is not there is unreachable, one that is silent is timed out, and a cancelled call is cancelled"
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
      let store = try RemoteServer(server.url, token: RunningServer.readToken, options: options).dataSource(
        of: Film.self)
      let late = await #expect(throws: PersistenceError.self) { try await store.find(1) }
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

/// Waits until a condition holds, looking a bounded number of times.
func until(_ condition: () async throws -> Bool) async throws {
  for _ in 0..<500 {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(20))
  }
  Issue.record("it never came about")
}

/// A context that counts results and rows, and makes readers wait where it is told to.
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
