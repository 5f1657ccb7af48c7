import DataAccess
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives
import PersistenceRemote
import Testing

@Suite("Documents at the limit of nesting")
struct DocumentDepthTests {
  private static func nested(_ depth: Int) -> String {
    String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
  }

  @Test(
    "D1 a document at the limit is read in every answer, and a deeper one is refused", .timeLimit(.minutes(1))
  )
  func limit() async throws {
    let context = MemoryContext()
    try context.transaction { try $0.define(Nested.schema.model) }
    try await RunningServer.with(context) { server in
      let source = try RemoteServer(server.url, token: RunningServer.writeToken).dataSource(of: Nested.self)
      let first = Nested(id: 1, title: "a", tree: Tree(text: Self.nested(JSONParser.depthLimit)))
      let second = Nested(id: 2, title: "a", tree: first.tree)
      try await source.save(first)
      #expect(try await source.find(1) == first)
      let checkpoint = try await source.changes(since: nil).checkpoint
      #expect(try await source.apply(ChangeBatch([.insert(second)])))
      #expect(try await source.execute(FetchOptions()) == [first, second])
      var pages: [Nested] = []
      for try await page in source.pages(FetchOptions(), size: 1) { pages += page }
      #expect(pages == [first, second])
      #expect(try await source.changes(since: checkpoint).saved == [second])
      var events = source.changeEvents(since: checkpoint).makeAsyncIterator()
      #expect(try await events.next()?.saved == [second])

      let client = WireClient(port: server.port)
      let path = "/models/Nested/records/"
      #expect(try await client("PATCH", path + "1", #"{"title":"b"}"#).status == 200)
      let deeper = Self.nested(JSONParser.depthLimit + 1)
      let put = try await client("PUT", path + "3", #"{"id":3,"title":"c","tree":\#(deeper)}"#)
      #expect(put.status == 400 && put.code == "invalidRequest")
      let patch = try await client("PATCH", path + "1", #"{"tree":\#(deeper)}"#)
      #expect(patch.status == 400 && patch.code == "invalidRequest")
      #expect(try await source.execute(FetchOptions()).map(\.tree) == [first.tree, first.tree])
    }
  }
}

/// A record with a document.
private struct Nested: PersistentRecord, Equatable {
  var id: Int
  var title: String
  var tree: Tree

  static let schema = RecordSchema<Nested>(
    "Nested", fields: [.field("id", \.id), .field("title", \.title), .field("tree", \.tree)], key: [\.id])
  var primaryKey: Int { id }

  init(id: Int, title: String, tree: Tree) { (self.id, self.title, self.tree) = (id, title, tree) }

  init(from row: borrowing Row) throws {
    (id, title, tree) = (try row.decode(at: 0), try row.decode(at: 1), try row.decode(at: 2))
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(tree, at: 2)
  }
}

/// A document as its text.
private struct Tree: PersistentValueConvertible, Hashable, Sendable {
  var text: String

  static var persistentKind: FieldKind { .document }
  var persistentValue: PersistentValue { .document(text) }

  static func read(from row: borrowing Row, at position: Int) throws -> Tree {
    guard case .document(let text) = try row.value(at: position) else {
      throw PersistenceError(.damaged, "no document")
    }
    return Tree(text: text)
  }

  func write(to row: RowBuffer, at position: Int) { row.set(persistentValue, at: position) }
}
