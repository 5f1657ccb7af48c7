import DataAccess
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives
import PersistenceRemote
import PersistenceServer
import TestSupport
import Testing

/// Clients of several versions of an app beside each other, at one server.
@Suite("Clients of several versions")
struct VersionTests {
  private static let day = Date(timeIntervalSince1970: 1_000_000)

  /// A running server, clients with permission to write, and the store behind it.
  private struct Served {
    let store: StoreUnderTest
    let repository: Repository
    let storage: any StorageContext
    let running: RunningServer
    let remote: RemoteServer
    let wire: WireClient
  }

  private func serving(
    _ context: ContextUnderTest, _ films: [Film], evolution: ServerEvolution = .none,
    _ body: (Served) async throws -> Void
  ) async throws {
    let store = try context.makeStore()
    let repository = try store.open()
    let storage = try #require(repository.context.asStorageContext)
    try repository.save(contentsOf: films)
    try await RunningServer.with(storage, evolution: evolution) { running in
      try await body(
        Served(
          store: store, repository: repository, storage: storage, running: running,
          remote: try RemoteServer(running.url, token: RunningServer.writeToken),
          wire: WireClient(port: running.port)))
    }
    try storage.close()
  }

  @Test(
    "S1 an older client reads and writes its fields, and the store keeps the others",
    arguments: ContextUnderTest.ours)
  func older(context: ContextUnderTest) async throws {
    let films = [Film(1, "a", budget: 5, day: Self.day), Film(2, "b", budget: 6)]
    try await serving(context, films) { served in
      let older = served.remote.dataSource(of: TitledFilm.self)
      #expect(try await older.find(1) == TitledFilm(1, "a"))
      #expect(try await older.find(9) == nil)
      #expect(try await older.filter(where: \.title == "b").result() == [TitledFilm(2, "b")])
      #expect(try await older.count(FetchOptions()) == 2)
      #expect(try await older.save(TitledFilm(1, "A")) == TitledFilm(1, "A"))
      try await older.insert(TitledFilm(3, "c"))
      // The expected state is that of its own fields: another change of the budget is no conflict.
      try served.repository.save(Film(2, "b", budget: 7))
      try await older.update(TitledFilm(2, "B"), replacing: TitledFilm(2, "b"))
      let conflict = await #expect(throws: PersistenceError.self) {
        try await older.update(TitledFilm(2, "lost"), replacing: TitledFilm(2, "b"))
      }
      #expect(conflict?.code == .conflict)
      let batch = ChangeBatch<TitledFilm>([
        .insert(TitledFilm(4, "d")), .update(TitledFilm(1, "AA"), replacing: TitledFilm(1, "A")),
        .save(TitledFilm(5, "e")), .delete(TitledFilm(3, "c")),
      ])
      #expect(try await older.apply(batch))
      #expect(try await !older.apply(batch))
      #expect(try await older.delete(TitledFilm(5, "")) == TitledFilm(5, "e"))
      var pages: [[Int]] = []
      for try await page in older.pages(FetchOptions(), size: 2) { pages.append(page.map(\.id)) }
      #expect(pages == [[1, 2], [4]])
      #expect(
        try Array(served.repository.fetch(Film.self)) == [
          Film(1, "AA", budget: 5, day: Self.day), Film(2, "B", budget: 7), Film(4, "d"),
        ])
      // The client that has all fields works beside it.
      let films = served.remote.dataSource(of: Film.self)
      #expect(try await films.find(1) == Film(1, "AA", budget: 5, day: Self.day))
    }
  }

  @Test(
    "S1 a newer client reads its additions as their fills, and its writes get every difference",
    arguments: ContextUnderTest.ours)
  func newer(context: ContextUnderTest) async throws {
    try await serving(context, [Film(1, "a"), Film(2, "b", budget: 2)]) { served in
      let newer = served.remote.dataSource(of: RatedFilm.self)
      #expect(try await newer.find(1) == RatedFilm(1, "a"))
      #expect(try await newer.filter(where: \.rating == "PG" && \.title == "b").result().map(\.id) == [2])
      #expect(try await newer.filter(where: \.rating != "PG").count() == 0)
      #expect(
        try await newer.filter().sorted(by: \.rating, inOrder: .descending).result().map(\.id) == [2, 1])
      let catalog = try served.storage.catalog()
      for write in [
        { try await newer.save(RatedFilm(1, "a", rating: "R")) },
        // Also a record that the store could keep by chance.
        { try await newer.insert(RatedFilm(3, "c")) },
      ] {
        let error = await #expect(throws: PersistenceError.self) { try await write() }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.model == "Film")
        #expect(error?.differences.map(\.field?.name) == ["rating", "note", nil])
        #expect(error?.differences.first?.kind == .cost(.catalog))
        #expect(error?.message.contains("its evolution is additive") == true)
      }
      #expect(try served.storage.catalog() == catalog)
      #expect(try Array(served.repository.fetch(Film.self)) == [Film(1, "a"), Film(2, "b", budget: 2)])
      #expect(try await newer.delete(RatedFilm(2, ""))?.title == "b", "a deletion needs no field")
    }
  }

  @Test(
    "a server with additive evolution adds fields and an index for its first writer, and older clients go on",
    arguments: ContextUnderTest.ours)
  func additive(context: ContextUnderTest) async throws {
    try await serving(context, [Film(1, "a", budget: 1)], evolution: .additive) { served in
      let films = served.remote.dataSource(of: Film.self)
      #expect(try await films.find(1) == Film(1, "a", budget: 1))
      let newer = served.remote.dataSource(of: RatedFilm.self)
      #expect(try await newer.find(1) == RatedFilm(1, "a"))
      #expect(try served.storage.schema(named: "Film")?.position(of: "rating") == nil, "reads change nothing")
      try await newer.save(RatedFilm(1, "a", rating: "R", note: "n"))
      let schema = try #require(try served.storage.schema(named: "Film"))
      #expect(schema.position(of: "rating") != nil && schema.position(of: "note") != nil)
      #expect(
        schema.indexes.contains(IndexSchema(["rating"])) && schema.indexes.contains(IndexSchema(["title"])))
      #expect(try await films.find(1) == Film(1, "a", budget: 1))
      try await films.save(Film(1, "A", budget: 2))
      try await films.insert(Film(2, "b"))
      #expect(try await newer.find(1) == RatedFilm(1, "A", rating: "R", note: "n"))
      #expect(try await newer.find(2) == RatedFilm(2, "b"), "S1 a new record of an older client has the fill")
      #expect(try await newer.filter(where: \.rating == "PG").result().map(\.id) == [2])
      #expect(try served.repository.find(Film.self, id: 1) == Film(1, "A", budget: 2))
    }
  }

  @Test(
    "additive evolution rejects every other change with its differences",
    arguments: ContextUnderTest.ours)
  func refused(context: ContextUnderTest) async throws {
    try await serving(context, [Film(1, "a")], evolution: .additive) { served in
      let catalog = try served.storage.catalog()
      let required = await #expect(throws: PersistenceError.self) {
        try await served.remote.dataSource(of: StrictFilm.self).find(1)
      }
      #expect(required?.code == .schemaMismatch)
      #expect(required?.differences.map(\.kind) == [.optional])
      // A rename is mapped, so that it needs no change.
      let pictures = served.remote.dataSource(of: Picture.self)
      #expect(try await pictures.save(Picture(1, "A")) == Picture(1, "A"))
      #expect(try await pictures.filter(where: \.name == "A").result() == [Picture(1, "A")])
      #expect(try served.repository.find(Film.self, id: 1) == Film(1, "A"))
      let bodies = [
        // Another name, a wider kind, a unique index.
        ("Picture", JSONText.canonical(try WireSchema(Picture.schema.declaration).json)),
        (
          "Film",
          #"{"name":"Film","key":["id"],"indexes":[],"fields":[{"name":"id","kind":"int64","isOptional":false},"#
            + #"{"name":"title","kind":"string","isOptional":true}]}"#
        ),
        (
          "Film",
          #"{"name":"Film","key":["id"],"indexes":[{"fields":["day"],"isUnique":true}],"fields":["#
            + #"{"name":"id","kind":"int64","isOptional":false},{"name":"day","kind":"date","isOptional":true}]}"#
        ),
      ]
      for (model, body) in bodies {
        let reply = try await served.wire("PUT", "/models/\(model)", body)
        #expect(reply.status == 409 && reply.code == "schemaMismatch", "\(body)")
        let differences = try #require(try reply.json?.member("differences")?.elements())
        #expect(!differences.isEmpty && differences.allSatisfy { $0.member("words") != nil }, "\(body)")
      }
      #expect(try served.storage.catalog() == catalog)
    }
  }

  @Test(
    "S1 S3 clients go on while the server's store is evolved: renames are mapped, removals are newerStore",
    arguments: ContextUnderTest.ours)
  func evolvedUnderServer(context: ContextUnderTest) async throws {
    try await serving(context, [Film(1, "a", budget: 1), Film(2, "b")]) { served in
      let films = served.remote.dataSource(of: Film.self)
      let titled = served.remote.dataSource(of: TitledFilm.self)
      let pictures = served.remote.dataSource(of: Picture.self)
      #expect(try await films.find(1) == Film(1, "a", budget: 1))
      #expect(try await titled.find(1) == TitledFilm(1, "a"))

      // Another context, as in another process, evolves the store if the engine permits it.
      let other = try context.capabilities().isMultiProcess ? served.store.open() : served.repository
      _ = try Repository(other.context, schema: BudgetlessFilms.self)
      #expect(try await titled.save(TitledFilm(1, "A")) == TitledFilm(1, "A"))
      let calls: [(String, () async throws -> Void)] = [
        ("find", { _ = try await films.find(1) }), ("count", { _ = try await films.count(FetchOptions()) }),
        ("query", { _ = try await films.execute(FetchOptions()) }),
        ("save", { try await films.save(Film(1, "lost")) }),
        ("batch", { try await films.apply(ChangeBatch([.save(Film(1, "lost"))])) }),
      ]
      for (name, call) in calls {
        let error = await #expect(throws: PersistenceError.self, "\(name)") { try await call() }
        #expect(error?.code == .newerStore, "\(name)")
        #expect(error?.differences.map(\.kind) == [.removed], "\(name)")
        #expect(error?.differences.first?.field?.name == "budget", "\(name)")
      }
      let page = try await served.wire("GET", "/models/Film/records")
      #expect(page.status == 200 && !page.body.contains("budget") && !page.body.contains("lost"))

      _ = try Repository(other.context, schema: Pictures.self)
      #expect(try await titled.find(1) == TitledFilm(1, "A"))
      #expect(try await pictures.find(1) == Picture(1, "A"))
      try await titled.update(TitledFilm(1, "AA"), replacing: TitledFilm(1, "A"))
      try await titled.insert(TitledFilm(3, "c"))
      try await pictures.save(Picture(2, "bb"))
      #expect(try await titled.filter(where: \.title >= "b").result().map(\.title) == ["bb", "c"])
      #expect(try await pictures.filter(where: \.name == "AA").result() == [Picture(1, "AA")])
      #expect(try await served.wire("GET", "/models/Film").status == 404)
      #expect(try await served.wire("GET", "/models/Picture/records/3").status == 200)
    }
  }

  @Test("S11 a page's token outlives changes of other fields", arguments: ContextUnderTest.ours)
  func tokens(context: ContextUnderTest) async throws {
    try await serving(context, (1...9).map { Film($0, "t\($0 % 2)", budget: 1) }, evolution: .additive) {
      served in
      let path = "/models/Film/records?where=title%20%3E=%20%27t%27&sort=title&limit=4"
      func ids(_ path: String) async throws -> (ids: [Int], next: String) {
        let reply = try await served.wire("GET", path)
        #expect(reply.status == 200, "\(reply.body)")
        let json = try #require(reply.json)
        let ids = try json.required("records").elements().map { try $0.required("id").integer() }
        guard case .string(let next)? = json.member("next") else { return (ids, "") }
        return (ids, next)
      }
      let first = try await ids(path)
      #expect(first.ids == [2, 4, 6, 8])
      try await served.remote.dataSource(of: RatedFilm.self).save(RatedFilm(10, "t1"))
      #expect(try await ids(path + "&after=" + first.next).ids == [1, 3, 5, 7])
      _ = try Repository(served.storage, schema: BudgetlessFilms.self)
      let second = try await ids(path + "&after=" + first.next)
      #expect(second.ids == [1, 3, 5, 7])
      #expect(try await ids(path + "&after=" + second.next).ids == [9, 10])
      let other = try await served.wire("GET", "/models/Film/records?sort=-title&after=" + first.next)
      #expect(other.status == 400 && other.code == "invalidRequest")
    }
  }
}
