import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceServer
import Synchronization
import Testing

/// Pages that take no longer than some reads of single records.
@Suite("Brief pages")
struct BriefPageTests {
  /// Whether the server may read on the threads of tasks at all; see `ImmediateReads`.
  private static let hasRoom = ProcessInfo.processInfo.activeProcessorCount >= 2

  @Test(
    "a page of a few rows in the order of an index is read on the thread of its task, and others are not",
    .timeLimit(.minutes(1)))
  func threads() async throws {
    let context = PassNotes(try Film.context((0..<200).map { Film($0) }))
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port)
      func check(_ parameters: String, isBrief: Bool) async throws {
        let path = "/models/Film/records?" + parameters
        // They read the schema, and keep how the page is read.
        let first = try await client("GET", path)
        let second = try await client("GET", path)
        context.passes.store(0, ordering: .relaxed)
        context.passesInTasks.store(0, ordering: .relaxed)
        let third = try await client("GET", path)
        #expect(first.status == 200 && first.body == second.body && first.body == third.body)
        #expect(first.headers["etag"] == third.headers["etag"] && third.headers["etag"] != nil)
        #expect(first.headers["link"] == third.headers["link"])
        let inTasks = context.passesInTasks.load(ordering: .relaxed)
        #expect(inTasks == (isBrief && Self.hasRoom ? 1 : 0), "\(parameters)")
        guard isBrief else { return }
        #expect(context.passes.load(ordering: .relaxed) == 1)
        let tag = "If-None-Match: \(third.headers["etag"] ?? "")"
        #expect(try await client("GET", path, headers: [tag]).status == 304)
        #expect(try await client("GET", path, headers: ["If-None-Match: x"]).status == 400)
        let lines = try await client("GET", path, headers: ["Accept: application/x-ndjson"])
        #expect(lines.body.hasPrefix("{\"budget\"") && !lines.body.contains("records"))
      }
      try await check("limit=1", isBrief: true)
      try await check("limit=64", isBrief: true)
      try await check("limit=65", isBrief: false)
      try await check("limit=100", isBrief: false)
      try await check("limit=50&sort=title", isBrief: false)
      try await check("limit=50&where=id%20%3E%203", isBrief: false)
      try await check("limit=50&offset=1", isBrief: false)
      try await check("limit=50&select=id", isBrief: false)
    }
  }

  @Test("a page that was too long for one pass is not brief", .timeLimit(.minutes(1)))
  func long() async throws {
    let text = String(repeating: "x", count: 5000)
    let context = PassNotes(try Film.context((0..<60).map { Film($0, text) }))
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port)
      for _ in 0..<4 {
        let page = try await client("GET", "/models/Film/records?limit=50")
        #expect(page.status == 200 && page.body.utf8.count > 250_000)
      }
      #expect(context.passes.load(ordering: .relaxed) == 1)
      #expect(context.passesInTasks.load(ordering: .relaxed) == 0)
      // The page behind it would not be remembered as too long, and be read twice.
      let first = try await client("GET", "/models/Film/records?limit=30")
      let token = try #require(first.body.components(separatedBy: #""next":""#).last?.dropLast(2))
      let path = "/models/Film/records?limit=30&after=\(token)"
      context.passes.store(0, ordering: .relaxed)
      for _ in 0..<3 { #expect(try await client("GET", path).status == 200) }
      #expect(context.passes.load(ordering: .relaxed) == 0)
    }
  }

  @Test("R5 a brief page that takes long ends at the time limit", .timeLimit(.minutes(1)))
  func timeLimit() async throws {
    let context = PassNotes(try Film.context([Film(1)]))
    var limits = ServerLimits()
    limits.requestTime = .seconds(2)
    try await RunningServer.with(context, limits: limits) { server in
      let client = WireClient(port: server.port)
      for _ in 0..<3 {
        #expect(try await client("GET", "/models/Film/records?limit=50").status == 200)
      }
      context.isEndless.store(true, ordering: .relaxed)
      let late = try await client("GET", "/models/Film/records?limit=50")
      #expect(late.status == 503 && late.code == "timedOut")
      context.isEndless.store(false, ordering: .relaxed)
      #expect(try await client("GET", "/models/Film/records?limit=50").status == 200)
    }
  }

  @Test("a brief page of a model that was dropped is not an empty page", .timeLimit(.minutes(1)))
  func dropped() async throws {
    let context = PassNotes(try Film.context([Film(1)]))
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port)
      for _ in 0..<3 {
        #expect(try await client("GET", "/models/Film/records?limit=50").status == 200)
      }
      try context.transaction { try $0.drop(Film.schema.model) }
      for _ in 0..<2 {
        let gone = try await client("GET", "/models/Film/records?limit=50")
        #expect(gone.status == 404 && gone.code == "unknownModel")
      }
    }
  }
}

/// A context that passes rows on, and counts where.
private final class PassNotes: StorageContextWrapper, SinglePassContext {
  let wrapped: any StorageContext
  let passes = Atomic(0)
  let passesInTasks = Atomic(0)
  /// Whether a pass ends only when it is interrupted.
  let isEndless = Atomic(false)

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func readOnce(_ request: FetchRequest, _ body: (borrowing Row) throws -> Void) throws -> Int? {
    passes.add(1, ordering: .relaxed)
    let isInTask = withUnsafeCurrentTask { $0 != nil }
    if isInTask { passesInTasks.add(1, ordering: .relaxed) }
    while isEndless.load(ordering: .relaxed) { try ReadInterruption.check() }
    return try wrapped.fetch(request).read(from: 0, limit: .max, body)
  }

  func plan(for request: FetchRequest) throws -> QueryPlan {
    QueryPlan(access: .primaryKey, ordering: request.order.isEmpty ? .byAccess : .sorted)
  }
}
