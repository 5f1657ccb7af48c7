import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceServer
import Synchronization
import TestSupport
import Testing
import ToolProcess

@Suite("Threads and deadlines of requests")
struct RequestThreadTests {
  private static let head =
    "HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(RunningServer.writeToken)\r\n"

  @Test(
    "pages, counts and writes use the store, and streams end, on threads that may block",
    .timeLimit(.minutes(1)))
  func threads() async throws {
    let text = String(repeating: "x", count: 1000)
    let context = ThreadNotes(try Film.context((0..<20_000).map { Film($0, text) }))
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port)
      for path in ["records?limit=2", "count", "records?limit=1000"] {
        #expect(try await client("GET", "/models/Film/" + path).status == 200)
        _ = try await client("HEAD", "/models/Film/" + path)
      }
      let lines = "Accept: application/x-ndjson\r\n\r\n"
      #expect(
        try await client("HEAD", "/models/Film/records", headers: ["Accept: application/x-ndjson"]).status
          == 200)
      #expect(try await client("DELETE", "/models/Film/records/2").status == 200)
      #expect(try await client("GET", "/ready").status == 204)
      try await RawConnection.run(server.port) { connection in
        // The client leaves in the middle of an answer.
        connection.send("GET /models/Film/records " + Self.head + lines)
        _ = connection.receive()
      }
      try await until { context.alive.load(ordering: .relaxed) == 0 }
    }
    #expect(context.uses.load(ordering: .relaxed) > 0 && context.usesInTasks.load(ordering: .relaxed) == 0)
    #expect(context.endsInTasks.load(ordering: .relaxed) == 0)
  }

  @Test(
    "requests move the deadline of a connection, which ends it once they stop", .timeLimit(.minutes(1)))
  func deadline() async throws {
    var limits = ServerLimits()
    // Longer than a busy machine stops a thread, and less than the requests take together.
    (limits.firstByteTime, limits.headTime) = (.seconds(6), .seconds(6))
    try await RunningServer.with(try Film.context([Film(1)]), limits: limits) { server in
      let port = server.port
      try await RawConnection.run(port) { connection in
        for _ in 0..<8 {
          connection.send("GET /models/Film/records/1 " + Self.head + "\r\n")
          #expect(String(decoding: connection.receive(), as: UTF8.self).contains("200 OK"))
          usleep(1_000_000)
        }
        let start = ContinuousClock.now
        #expect(connection.receiveAll().isEmpty)
        #expect(ContinuousClock.now - start < .seconds(30))
      }
    }
  }
}

/// A context that counts the uses, and the ends of its results, on threads of tasks, which must not block.
private final class ThreadNotes: StorageContextWrapper {
  let wrapped: any StorageContext
  let uses = Atomic(0)
  let usesInTasks = Atomic(0)
  let endsInTasks = Atomic(0)
  let alive = Atomic(0)

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  private static var isInTask: Bool { withUnsafeCurrentTask { $0 != nil } }

  private func note() {
    uses.add(1, ordering: .relaxed)
    if Self.isInTask { usesInTasks.add(1, ordering: .relaxed) }
  }

  func schema(named name: String) throws -> ModelSchema? {
    note()
    return try wrapped.schema(named: name)
  }

  func catalog() throws -> [ModelSchema] {
    note()
    return try wrapped.catalog()
  }

  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    note()
    return try wrapped.find(key, in: schema, body)
  }

  func count(_ request: FetchRequest) throws -> Int {
    note()
    return try wrapped.count(request)
  }

  func fetch(_ request: FetchRequest) throws -> any StorageResults {
    note()
    return Results(try wrapped.fetch(request), self)
  }

  private final class Results: StorageResultsWrapper {
    let wrapped: any StorageResults
    private let context: ThreadNotes

    init(_ wrapped: any StorageResults, _ context: ThreadNotes) {
      (self.wrapped, self.context) = (wrapped, context)
      context.alive.add(1, ordering: .relaxed)
    }

    deinit {
      if ThreadNotes.isInTask { context.endsInTasks.add(1, ordering: .relaxed) }
      context.alive.subtract(1, ordering: .relaxed)
    }

    func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
      context.note()
      return try wrapped.read(from: offset, limit: limit, body)
    }
  }
}
