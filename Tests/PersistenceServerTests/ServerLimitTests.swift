import Persistence
import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives
import PersistenceServer
import Testing

@Suite("Limits outside their ranges")
struct ServerLimitTests {
  private static func store() throws -> MemoryContext {
    let store = MemoryContext()
    try Repository(store).transaction { inside in
      try inside.save(contentsOf: (1...3).map { id in Label(id: id, name: "n", owner: Reference(id)) })
    }
    return store
  }

  private static func change(_ store: MemoryContext) throws {
    try Repository(store).transaction { try $0.save(Label(id: 2, name: "changed", owner: nil)) }
  }

  private static func checkpoint(_ reply: WireClient.Reply) throws -> String {
    guard reply.status == 200, case .string(let checkpoint)? = reply.json?.member("checkpoint") else {
      throw PersistenceError.invalidRequest("no checkpoint: \(reply)")
    }
    return checkpoint
  }

  /// Expects that a client receives a change of the store.
  private static func requireChanges(of store: MemoryContext, _ client: WireClient) async throws {
    let start = try checkpoint(try await client("GET", "/models/Label/changes"))
    try change(store)
    let changes = try await client("GET", "/models/Label/changes?since=\(start)")
    #expect(changes.status == 200 && changes.body.contains("changed"), "\(changes)")
  }

  private static func path(_ count: Int) -> String { "owner" + String(repeating: ".owner", count: count - 1) }

  @Test("the largest limits overflow in no calculation, and leave room on the stack", .timeLimit(.minutes(2)))
  func largest() async throws {
    var limits = ServerLimits()
    let members: [WritableKeyPath<ServerLimits, Int>] = [
      \.bodySize, \.pathSize, \.pageBytes, \.pageSize, \.defaultPageSize, \.queryDepth, \.querySize,
      \.relatedKeys, \.connections, \.connectionsPerPeer, \.waitingRequests, \.readingThreads,
      \.readsPerClient, \.answerBytes, \.rememberedChanges, \.eventStreams, \.eventStreamsPerPeer,
    ]
    for member in members { limits[keyPath: member] = Int.max }
    let times: [WritableKeyPath<ServerLimits, Duration>] = [
      \.requestTime, \.firstByteTime, \.headTime, \.bodyTime, \.writeTime, \.heartbeatTime, \.shutdownTime,
    ]
    for time in times { limits[keyPath: time] = Duration.seconds(Int64.max) }
    let store = try Self.store()
    try await RunningServer.with(store, limits: limits) { server in
      let client = WireClient(port: server.port)
      try await Self.requireChanges(of: store, client)
      for parameters in ["", "include=owner", "limit=\(1 << 30)", "limit=\(1 << 30)&include=owner"] {
        let page = try await client("GET", "/models/Label/records?" + parameters)
        #expect(page.status == 200 && page.body.contains(#""next":null"#), "\(parameters): \(page)")
        #expect(page.body.contains(#"{"id":3,"#), "\(parameters): \(page)")
      }
      for parameters in [
        "records?limit=\(Int.max)", "records?limit=\(Int.max)&include=owner", "changes?limit=\(Int.max)",
      ] {
        #expect(try await client("GET", "/models/Label/\(parameters)").status == 400, "\(parameters)")
      }
      let deep = try await client("GET", "/models/Label/records?include=" + Self.path(500))
      #expect(deep.status == 200, "\(deep)")
      for count in [501, 100_000] {
        let path = Self.path(count)
        let deeper = try await client("POST", "/models/Label/query", #"{"include":"\#(path)"}"#)
        #expect(
          deeper.status == 400 && deeper.body.contains("too many references"), "\(count): \(deeper.status)")
      }
    }
  }

  @Test(
    "limits of 0 or less are those of the smallest server that works", .timeLimit(.minutes(1)),
    arguments: [0, Int.min])
  func smallest(limit: Int) async throws {
    var limits = ServerLimits()
    let members: [WritableKeyPath<ServerLimits, Int>] = [
      \.pageBytes, \.pageSize, \.defaultPageSize, \.queryDepth, \.querySize, \.relatedKeys, \.connections,
      \.connectionsPerPeer, \.waitingRequests, \.readingThreads, \.readsPerClient, \.answerBytes,
      \.rememberedChanges, \.eventStreams, \.eventStreamsPerPeer,
    ]
    for member in members { limits[keyPath: member] = limit }
    let store = try Self.store()
    try await RunningServer.with(store, limits: limits) { server in
      let client = WireClient(port: server.port)
      try await Self.requireChanges(of: store, client)
      let page = try await client("GET", "/models/Label/records")
      #expect(page.status == 200 && page.body.hasPrefix(#"{"records":[{"id":1,"#), "\(page)")
      #expect(!page.body.contains(#""next":null"#), "\(page)")
      for refused in ["records?limit=2", "changes?limit=2", "records?where=id%3D1", "records?include=owner"] {
        #expect(try await client("GET", "/models/Label/\(refused)").status == 400, "\(refused)")
      }
      #expect(try await client("GET", "/models/Label/events").status == 503)
    }
  }
}
