import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceServer
import Synchronization
import Testing

/// Reads in terms of the store, by a schema that an earlier request has read.
@Suite("Known schemas of the store")
struct KnownModelTests {
  private static let path = "/models/Film/records/1"
  private static let page = "/models/Film/records"
  /// A page that the server reads on the thread of its task, if it can.
  private static let brief = page + "?limit=50"

  /// Calls a closure with a client of a server that knows the schema, and with another context of the store, as another
  /// process would have, if the engine permits it.
  private func serving(
    _ context: ContextUnderTest, _ body: (WireClient, any StorageContext) async throws -> Void
  ) async throws {
    let store = try context.makeStore()
    let repository = try store.open()
    let storage = try #require(repository.context.asStorageContext)
    try repository.insert(Film(1, "a", budget: 1))
    let other = try context.capabilities().isMultiProcess ? store.open() : repository
    let changing = try #require(other.context.asStorageContext)
    try await RunningServer.with(storage) { server in
      let client = WireClient(port: server.port)
      for path in [Self.path, Self.path, Self.page, Self.page, Self.brief, Self.brief, Self.brief] {
        #expect(try await client("GET", path).status == 200)
      }
      try await body(client, changing)
    }
    try storage.close()
  }

  @Test("S10 a read shows fields that were added since the last one", arguments: ContextUnderTest.ours)
  func added(context: ContextUnderTest) async throws {
    try await serving(context) { client, changing in
      _ = try Repository(changing, schema: RatedFilms.self)
      let film = #"{"budget":1.0,"day":null,"id":1,"note":null,"rating":"PG","title":"a"}"#
      for _ in 0..<2 {
        // First, because the other reads would bring the new schema.
        #expect(try await client("GET", Self.brief).body == #"{"records":[\#(film)],"next":null}"#)
        let page = try await client("GET", Self.page + "?sort=rating")
        #expect(page.body == #"{"records":[\#(film)],"next":null}"#)
        #expect(try await client("GET", Self.path).body == film)
      }
      #expect(try await client("GET", Self.path + "?select=rating").body == #"{"rating":"PG"}"#)
    }
  }

  @Test("S8 S10 a read shows no field or model that was removed or renamed", arguments: ContextUnderTest.ours)
  func removed(context: ContextUnderTest) async throws {
    try await serving(context) { client, changing in
      _ = try Repository(changing, schema: BudgetlessFilms.self)
      for _ in 0..<2 {
        let brief = try await client("GET", Self.brief)
        #expect(brief.status == 200 && brief.body.contains(#""title":"a""#) && !brief.body.contains("budget"))
        let reply = try await client("GET", Self.path)
        #expect(reply.status == 200 && reply.body.contains(#""title":"a""#))
        #expect(!reply.body.contains("budget") && !reply.body.contains("1.0"))
        let page = try await client("GET", Self.page)
        #expect(page.status == 200 && page.body.contains(#""title":"a""#) && !page.body.contains("budget"))
        for path in [Self.path, Self.page] {
          #expect(try await client("GET", path + "?select=budget").status == 400)
        }
        #expect(try await client("GET", Self.page + "?sort=budget").status == 400)
      }
      _ = try Repository(changing, schema: Pictures.self)
      for _ in 0..<2 {
        #expect(try await client("GET", Self.brief).code == "unknownModel")
        let gone = try await client("GET", Self.path)
        #expect(gone.status == 404 && gone.code == "unknownModel")
        #expect(try await client("GET", Self.page).code == "unknownModel")
        let picture = try await client("GET", "/models/Picture/records/1")
        #expect(picture.status == 200 && picture.body.contains(#""name":"a""#))
      }
    }
  }

  @Test(
    "S10 a read finds a model that was dropped, and defined anew with other keys",
    arguments: ContextUnderTest.ours)
  func redefined(context: ContextUnderTest) async throws {
    try await serving(context) { client, changing in
      try changing.transaction { try $0.drop(Film.schema.model) }
      let filtered = Self.page + "?where=id%20%3E%201"
      let paths = [Self.brief, Self.page, filtered, Self.path, "/models/Film/records/x"]
      for path in paths + paths {
        let gone = try await client("GET", path)
        #expect(gone.status == 404 && gone.code == "unknownModel", "\(path)")
      }
      let texts = try ModelSchema(
        name: "Film", fields: [FieldSchema("id", .string), FieldSchema("title", .string)], key: ["id"])
      try changing.transaction { transaction in
        try transaction.define(texts)
        let row = RowBuffer(count: 2)
        row.set([.text("1"), .text("b")])
        try row.withRow { try transaction.insert($0, in: texts) }
      }
      for _ in 0..<2 {
        #expect(
          try await client("GET", Self.brief).body == #"{"records":[{"id":"1","title":"b"}],"next":null}"#)
        #expect(try await client("GET", Self.path).body == #"{"id":"1","title":"b"}"#)
        let page = try await client("GET", Self.page)
        #expect(page.body == #"{"records":[{"id":"1","title":"b"}],"next":null}"#)
        let absent = try await client("GET", "/models/Film/records/x")
        #expect(absent.status == 404 && absent.code == "notFound")
      }
    }
  }

  @Test("a read of a known model takes one call of the store, and one that finds nothing takes two")
  func calls() async throws {
    let context = CallNotes(try Film.context([Film(1)]))
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port)
      #expect(try await client("GET", "/models/Film/records/2").status == 404)
      let tag = try #require(try await client("GET", Self.path).headers["etag"])
      func check(_ path: String, _ status: Int, _ calls: [String], headers: [String] = []) async throws {
        context.forget()
        #expect(try await client("GET", path, headers: headers).status == status)
        #expect(context.calls == calls, "\(path) \(headers)")
      }
      try await check(Self.path, 200, ["find"])
      try await check(Self.path + "?select=title", 200, ["find"])
      try await check(Self.path, 304, ["find"], headers: ["If-None-Match: \(tag)"])
      try await check(Self.path, 412, ["find"], headers: ["If-Match: \"x\""])
      try await check("/models/Film/records/2", 404, ["find", "schema"])
      try await check(Self.page, 200, ["fetch"])
      try await check(Self.page + "?where=title%20%3D%20't'&sort=-title&limit=1", 200, ["fetch"])
      try await check(Self.page + "?where=title%20%3D%20'x'", 200, ["fetch", "schema"])
      // The long way looks for the ledger of changes and for the schema first.
      try await check(Self.page + "?sort=nothing", 400, ["schema", "schema"])
      try await check(Self.page, 200, ["schema", "schema", "fetch"], headers: ["If-Match: *"])
    }
  }
}

/// A context that notes how it is read.
private final class CallNotes: StorageContextWrapper {
  let wrapped: any StorageContext
  private let notes = Mutex<[String]>([])

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  var calls: [String] { notes.withLock(\.self) }

  func forget() { notes.withLock { $0 = [] } }

  private func note(_ call: String) { notes.withLock { $0.append(call) } }

  func schema(named name: String) throws -> ModelSchema? {
    note("schema")
    return try wrapped.schema(named: name)
  }

  func catalog() throws -> [ModelSchema] {
    note("catalog")
    return try wrapped.catalog()
  }

  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    note("find")
    return try wrapped.find(key, in: schema, body)
  }

  func fetch(_ request: FetchRequest) throws -> any StorageResults {
    note("fetch")
    return try wrapped.fetch(request)
  }

  func snapshot() throws -> any StorageSnapshot {
    note("snapshot")
    return try wrapped.snapshot()
  }
}
