import DataAccess
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives
import PersistenceRemote
import PersistenceServer
import TestSupport
import Testing

/// The changes of films over the wire.
struct FilmChanges {
  let saved: [JSONValue]
  let deleted: [JSONValue]
  let checkpoint: String
  let hasMore: Bool

  init(_ reply: WireClient.Reply) throws {
    let json = try #require(reply.status == 200 ? reply.json : nil, "\(reply)")
    (saved, deleted) = (try json.required("saved").elements(), try json.required("deleted").elements())
    checkpoint = try json.required("checkpoint").text()
    guard case .bool(let hasMore) = try json.required("hasMore") else {
      throw PersistenceError.invalidRequest("hasMore is no Boolean")
    }
    self.hasMore = hasMore
  }

  static func of(_ client: WireClient, since checkpoint: String? = nil, limit: Int? = nil) async throws
    -> FilmChanges
  {
    let parameters = [checkpoint.map { "since=\($0)" }, limit.map { "limit=\($0)" }].compactMap { $0 }
    return try FilmChanges(
      try await client("GET", "/models/Film/changes?" + parameters.joined(separator: "&")))
  }
}

@Suite("Changes since a checkpoint")
struct ChangeTests {
  private static let reader = RunningServer.readToken

  @Test(
    "D1: the answer has the present records, the keys of deleted ones, and a checkpoint after them",
    arguments: ContextUnderTest.ours)
  func states(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    let storage = try #require(repository.context.asStorageContext)
    try repository.insert(contentsOf: [Film(1), Film(2), Film(3)])
    try await RunningServer.with(storage) { server in
      let client = WireClient(port: server.port, token: Self.reader)
      let start = try await FilmChanges.of(client)
      #expect(start.saved.isEmpty && start.deleted.isEmpty && !start.hasMore)
      try repository.save(Film(2, "new", budget: 1.5))
      try repository.save(Film(4))
      try repository.delete(Film(1))
      try repository.delete(Film(4))
      for _ in 0..<2 {
        let changes = try await FilmChanges.of(client, since: start.checkpoint)
        let stored = try await client("GET", "/models/Film/records/2").body
        #expect(changes.saved.map(JSONText.canonical) == [stored])
        // Film 4 came and went in between, so no client can have it.
        let deleted = Set(changes.deleted.map(JSONText.canonical))
        #expect(deleted.contains(#"{"id":1}"#) && deleted.isSubset(of: [#"{"id":1}"#, #"{"id":4}"#]))
        let after = try await FilmChanges.of(client, since: changes.checkpoint)
        #expect(after.saved.isEmpty && after.deleted.isEmpty && after.checkpoint == changes.checkpoint)
      }
      // What a transaction that was rolled back wrote is no change.
      struct Stop: Error {}
      #expect(throws: Stop.self) {
        try repository.transaction {
          try $0.save(Film(9))
          throw Stop()
        }
      }
      let now = try await FilmChanges.of(client)
      #expect(try await FilmChanges.of(client, since: now.checkpoint).saved.isEmpty)
    }
  }

  @Test("D1: parts end at checkpoints between changes, and miss none")
  func parts() async throws {
    let context = try Film.context([])
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port, token: Self.reader)
      var checkpoint = try await FilmChanges.of(client).checkpoint
      for id in 0..<7 { try Film.insert([Film(id)], in: context) }
      var (found, parts) = ([String](), 0)
      while true {
        let part = try await FilmChanges.of(client, since: checkpoint, limit: 3)
        found += part.saved.map(JSONText.canonical)
        (checkpoint, parts) = (part.checkpoint, parts + 1)
        if !part.hasMore { break }
      }
      let all = try await client("GET", "/models/Film/records").json?.required("records").elements() ?? []
      #expect(parts == 3)
      #expect(found.sorted() == all.map(JSONText.canonical).sorted())
    }
  }

  @Test(
    "D1: a checkpoint of another server, of the future or too far back is refused, and never half answered")
  func expired() async throws {
    var limits = ServerLimits()
    limits.rememberedChanges = 3
    let context = try Film.context([])
    let old = try await RunningServer.with(context, limits: limits) { server in
      let client = WireClient(port: server.port, token: Self.reader)
      let start = try await FilmChanges.of(client).checkpoint
      for id in 0..<3 { try Film.insert([Film(id)], in: context) }
      let middle = try await FilmChanges.of(client, since: start)
      #expect(middle.saved.count == 3)
      try Film.insert([Film(3)], in: context)
      let gone = try await client("GET", "/models/Film/changes?since=\(start)")
      #expect(gone.status == 410 && gone.code == "checkpointExpired")
      #expect(try await FilmChanges.of(client, since: middle.checkpoint).saved.count == 1)
      return middle.checkpoint
    }
    try await RunningServer.with(context, limits: limits) { server in
      let client = WireClient(port: server.port, token: Self.reader)
      for _ in 0..<2 {
        #expect(try await client("GET", "/models/Film/changes?since=\(old)").code == "checkpointExpired")
      }
      let remote = try RemoteServer(server.url, token: Self.reader).dataSource(of: Film.self)
      let error = await #expect(throws: PersistenceError.self) {
        try await remote.changes(since: DataSourceCheckpoint(old))
      }
      #expect(error?.code == .checkpointExpired)
    }
  }

  @Test("D1: a change of the schema that may rewrite records ends the checkpoints from before")
  func schemaChange() async throws {
    let context = try Film.context([Film(1)])
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port, token: Self.reader)
      let before = try await FilmChanges.of(client).checkpoint
      _ = try Repository(context, schema: RatedFilms.self)
      try Film.insert([Film(2)], in: context)
      #expect(try await client("GET", "/models/Film/changes?since=\(before)").status == 410)
      let after = try await FilmChanges.of(client).checkpoint
      try Film.insert([Film(3)], in: context)
      let remote = try RemoteServer(server.url, token: Self.reader).dataSource(of: Film.self)
      #expect(try await remote.changes(since: DataSourceCheckpoint(after)).saved == [Film(3)])
    }
  }

  @Test("malformed checkpoints and limits are refused", .timeLimit(.minutes(1)))
  func hostile() async throws {
    try await RunningServer.with(try Film.context([Film(1)])) { server in
      let client = WireClient(port: server.port, token: Self.reader)
      let valid = try await FilmChanges.of(client).checkpoint
      let long = String(repeating: "A", count: 8000)
      for since in [
        "", "x", "%00", "AAAA", valid + "A", valid + "=", String(valid.dropLast()), "%2B" + valid.dropFirst(),
        long,
        "..%2F..%2Fx", "'%20or%201=1", "%F0%9F%92%A5",
      ] {
        let reply = try await client("GET", "/models/Film/changes?since=\(since)")
        #expect(reply.status == 400 && reply.code == "invalidRequest", "\(since.prefix(40)): \(reply)")
        let events = try await client("GET", "/models/Film/events?since=\(since)")
        #expect(events.status == 400, "\(since.prefix(40)): \(events)")
      }
      // A well-formed token of another epoch.
      let forged = String(repeating: "A", count: valid.utf8.count)
      #expect(try await client("GET", "/models/Film/changes?since=\(forged)").status == 410)
      for parameters in [
        "limit=0", "limit=-1", "limit=1001", "limit=x", "after=x", "since=\(valid)&since=\(valid)",
      ] {
        #expect(try await client("GET", "/models/Film/changes?\(parameters)").status == 400, "\(parameters)")
      }
      #expect(try await client("GET", "/models/Nothing/changes").status == 404)
      #expect(try await client("GET", "/models/persistence.batches/changes").status == 404)
      #expect(try await client("POST", "/models/Film/changes", "{}").status == 405)
      #expect(
        try await WireClient(port: server.port, token: nil)("GET", "/models/Film/changes").status == 401)
    }
  }

  @Test("D1: after a model is renamed, its changes go on under the new name", .timeLimit(.minutes(1)))
  func renamed() async throws {
    let context = try Film.context([Film(1, "a")])
    try await RunningServer.with(context) { server in
      let remote = try RemoteServer(server.url, token: Self.reader)
      let following = FollowingOptions(retry: RetryPolicy(firstDelay: .milliseconds(1)))
      var iterator = remote.dataSource(of: Picture.self).updates(options: following).makeAsyncIterator()
      #expect(try await iterator.next()?.objects == [Picture(1, "a")])
      _ = try Repository(context, schema: Pictures.self)
      try Picture.insert([Picture(2, "b")], in: context)
      #expect(try await iterator.next()?.objects == [Picture(1, "a"), Picture(2, "b")])
    }
  }

  @Test("requests for the changes of invented models leave no observers", .timeLimit(.minutes(1)))
  func invented() async throws {
    let context = try Film.context([Film(1)])
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port, token: Self.reader)
      for number in 0..<10 {
        let model = try ModelSchema(name: "Invented\(number)", fields: Film.schema.model.fields, key: ["id"])
        let schema = try WireSchema(ModelDeclaration(model))
        let body = JSONText.canonical(schema.json)
        #expect(try await client("PUT", "/schemas/\(schema.digest)", body).status == 200)
        let path = "/models/\(model.name)/changes"
        _ = try FilmChanges(try await client("GET", "\(path)?schema=\(schema.digest)"))
        #expect(try await client("GET", path).code == "unknownModel")
      }
      try await until { context.observers.count == 0 }
      // The feed of a model of the store stays, so that its checkpoints stay valid.
      let start = try await FilmChanges.of(client).checkpoint
      #expect(context.observers.count == 1)
      try Film.insert([Film(2)], in: context)
      #expect(try await FilmChanges.of(client, since: start).saved.count == 1)
    }
  }

  @Test("D2: an observer of a model that the store lacks goes on when it is defined", .timeLimit(.minutes(1)))
  func definedLater() async throws {
    let context = MemoryContext()
    try await RunningServer.with(context) { server in
      let remote = try RemoteServer(server.url, token: Self.reader)
      var iterator = remote.dataSource(of: Film.self).updates().makeAsyncIterator()
      #expect(try await iterator.next()?.objects == [])
      try context.transaction { try $0.define(Film.schema.model) }
      try Film.insert([Film(1)], in: context)
      #expect(try await iterator.next()?.objects == [Film(1)])
    }
  }

  @Test("changes of a renamed model and field are told in the words of each client")
  func versions() async throws {
    let context = try Film.context([Film(1, "a")])
    try await RunningServer.with(context) { server in
      let remote = try RemoteServer(server.url, token: RunningServer.writeToken)
      let pictures = remote.dataSource(of: Picture.self)
      let start = try await pictures.changes(since: nil).checkpoint
      try await remote.dataSource(of: Film.self).save(Film(2, "b"))
      try await remote.dataSource(of: Film.self).delete(Film(1))
      let changes = try await pictures.changes(since: start)
      #expect(changes.saved == [Picture(2, "b")])
      #expect(changes.deleted == [Picture(1, "").recordKey])
    }
  }
}
