import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives
import PersistenceServer
import Testing

@Suite("Changes of some fields")
struct PatchTests {
  @Test("a patch changes the named fields only, and null clears one", arguments: ContextUnderTest.ours)
  func fields(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    let storage = try #require(repository.context.asStorageContext)
    try repository.insert(Film(1, "old", budget: 5))
    try await RunningServer.with(storage) { server in
      let client = WireClient(port: server.port)
      let path = "/models/Film/records/1"
      let titled = try await client("PATCH", path, #"{"title":"new"}"#, type: "application/merge-patch+json")
      #expect(titled.status == 200 && titled.headers["etag"] != nil)
      #expect(try repository.find(Film.self, id: 1) == Film(1, "new", budget: 5))
      #expect(try await client("PATCH", path, #"{"budget":null,"id":1}"#).status == 200)
      #expect(try repository.find(Film.self, id: 1) == Film(1, "new"))
      #expect(try await client("PATCH", path, "{}").status == 200)
      for (body, status) in [
        (#"{"id":2}"#, 400), (#"{"title":null}"#, 400), (#"{"title":1}"#, 400), (#"{"other":1}"#, 400),
        ("[]", 400),
        ("{", 400),
      ] {
        #expect(try await client("PATCH", path, body).status == status, "\(body)")
      }
      #expect(try await client("PATCH", "/models/Film/records/2", "{}").status == 404)
      #expect(try await client("PATCH", path, "{}", type: "text/plain").status == 415)
      let reader = WireClient(port: server.port, token: RunningServer.readToken)
      #expect(try await reader("PATCH", path, "{}").status == 403)
      #expect(try repository.find(Film.self, id: 1) == Film(1, "new"))
      #expect(try repository.count(Film.self) == 1)
    }
    try storage.close()
  }

  @Test("a patch with If-Match applies to that state only")
  func conditions() async throws {
    try await RunningServer.with(try Film.context([Film(1, "old")])) { server in
      let client = WireClient(port: server.port)
      let path = "/models/Film/records/1"
      let tag = try #require(try await client("GET", path).headers["etag"])
      let first = try await client("PATCH", path, #"{"title":"a"}"#, headers: ["If-Match: \(tag)"])
      let second = try await client("PATCH", path, #"{"title":"b"}"#, headers: ["If-Match: \(tag)"])
      #expect(first.status == 200 && second.status == 412)
      #expect(try await client("GET", path).body.contains(#""title":"a""#))
    }
  }

  /// A store with the record 1, whose document has one member: the composed form of é.
  private static func documents() throws -> MemoryContext {
    let context = MemoryContext()
    let schema = try ModelSchema(
      name: "Place", fields: [FieldSchema("id", .int64), FieldSchema("names", .document)], key: ["id"])
    try context.transaction { transaction in
      try transaction.define(schema)
      let row = RowBuffer(count: 2)
      row.set([.integer(1), .document("{\"\u{E9}\":1}")])
      try row.withRow { try transaction.insert($0, in: schema) }
    }
    return context
  }

  @Test("V3 a patch tells the two normal forms of a member's name apart")
  func normalForms() async throws {
    try await RunningServer.with(try Self.documents()) { server in
      let client = WireClient(port: server.port)
      let path = "/models/Place/records/1"
      let added = try await client("PATCH", path, "{\"names\":{\"e\u{301}\":2}}")
      #expect(added.status == 200, "\(added.body)")
      let names = try #require(added.json?.member("names"))
      #expect(try names.required("\u{E9}").integer() == 1)
      #expect(try names.required("e\u{301}").integer() == 2)
      let removed = try await client("PATCH", path, "{\"names\":{\"\u{E9}\":null,\"e\u{301}\":3}}")
      let rest = try #require(removed.json?.member("names"))
      #expect(rest.member("\u{E9}") == nil)
      #expect(try rest.required("e\u{301}").integer() == 3)
    }
  }

  @Test("a patch with very many members does not take the square of their number", .timeLimit(.minutes(1)))
  func manyMembers() async throws {
    try await RunningServer.with(try Self.documents()) { server in
      let members = (0..<400_000).map { "\"k\($0)\":0" }.joined(separator: ",")
      let reply = try await WireClient(port: server.port)(
        "PATCH", "/models/Place/records/1", "{\"names\":{\(members)}}")
      #expect(reply.status == 200, "\(reply.body.prefix(200))")
    }
  }
}
