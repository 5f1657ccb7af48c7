import DataAccess
import OurContexts
import Persistence
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives
import PersistenceRemote
import PersistenceServer
import Testing

@Persistent
struct Label: Hashable {
  var id: Int
  var name: String
  var owner: Reference<Label>?
}

@Persistent
struct Album: Hashable {
  var id: Int
  var title: String
  @OnDelete(.cascade) var label: Reference<Label>
  @OnDelete(.setNil) var reissue: Reference<Label>?
}

@Persistent
struct Song: Hashable {
  var id: Int
  var seconds: Int
  @OnDelete(.cascade) var album: Reference<Album>
}

@Suite("Relations at a server")
struct RelatedRequestTests {
  private static func fill(_ repository: Repository) throws {
    try repository.transaction { store in
      try store.save(contentsOf: [
        Label(id: 1, name: "Verve", owner: Reference(3)), Label(id: 2, name: "Atlantic", owner: Reference(3)),
        Label(id: 3, name: "Major", owner: nil), Label(id: 4, name: "Riverside", owner: nil),
      ])
      try store.save(
        contentsOf: (1...40).map { id in
          Album(
            id: id, title: "t\(id % 7)", label: Reference([4, 1, 2, 1][id % 4]),
            reissue: id % 3 == 0 ? Reference(id % 4 + 1) : nil)
        })
      try store.save(
        contentsOf: (1...120).map { Song(id: $0, seconds: $0 * 37 % 600, album: Reference($0 % 31 + 1)) })
    }
  }

  private static let conditions: [PersistentPredicate<Album>] = [
    .has(\.label), .has(\.reissue, \.name == "Verve"), !.has(\.reissue),
    .has(\.label, .has(\.owner, \.name == "Major")) && \.title != "t3",
    .hasAny(\Song.album, where: \.seconds > 400), !.hasAny(\Song.album),
    .hasAny(\Song.album, where: .has(\.album, .has(\.label, \.name == "Atlantic"))) || \.id < 3,
  ]

  @Test(
    "L5 L6 L7 a server answers as its store does, also in one's own declarations",
    arguments: ContextUnderTest.ours)
  func sameAnswers(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    let storage = try #require(repository.context.asStorageContext)
    try Self.fill(Repository(storage))
    try await RunningServer.with(storage) { server in
      let albums = try RemoteServer(server.url, token: RunningServer.readToken).dataSource(of: Album.self)
      for condition in Self.conditions {
        let expected = repository.filter(Album.self, where: condition)
        #expect(try await albums.filter(where: condition).result() == Array(expected.result()))
        #expect(try await albums.filter(where: condition).count() == expected.count())
        let sorted = expected.sorted(by: \.reissue, \.name, inOrder: .descending).sorted(by: \.title)
        let order = [
          SortCriterion<Album>(\.reissue, \Label.name, order: .descending), SortCriterion<Album>(\.title),
        ]
        var query = FetchOptions(predicate: condition, sorting: order)
        #expect(try await albums.execute(query) == Array(sorted.result()))
        var pages: [Album] = []
        for try await page in albums.pages(query, size: 3) { pages += page }
        #expect(try pages == Array(sorted.result()))
        (query.offset, query.limit) = (2, 5)
        let part = try Array(sorted.offset(2).limit(5).result())
        #expect(try await albums.execute(query) == part)
        (query.offset, query.limit, query.after) = (0, nil, part.last)
        #expect(try await albums.execute(query) == Array(sorted.result().dropFirst(2 + part.count)))
        let included = try await albums.filter(where: condition)
          .result {
            $0.including(\.label, \.reissue).including(all: \Song.album, sorted: SortCriterion(\.seconds))
          }
        let own = try expected.including(\.label, \.reissue)
          .including(all: \Song.album, sorted: SortCriterion(\.seconds)).result()
        #expect(included.map { "\($0)" } == own.map { "\($0)" })
      }
    }
    try storage.close()
  }

  @Test("L7 nested inclusions, conditions on them, and their numbers come with their page")
  func inclusions() async throws {
    let store = MemoryContext()
    let repository = Repository(store)
    try Self.fill(repository)
    // A page of the server has few bytes, so that pages with many songs end early.
    try await RunningServer.with(store, limits: ServerLimits(pageBytes: 7000)) { server in
      let remote = try RemoteServer(server.url, token: RunningServer.readToken)
      let labels = remote.dataSource(of: Label.self)
      func inclusion(_ start: Inclusion<Label, Label>) -> Inclusion<
        Label, (Label, Label?, Int, [(Album, [Song])])
      > {
        start.including(\.owner).including(count: \Album.label, where: \.title != "t1")
          .including(all: \Album.label, where: \.id > 20) {
            $0.including(all: \Song.album, where: \.seconds > 100)
          }
      }
      let expected = try await repository.dataSource(of: Label.self).filter().result(including: inclusion)
      let found = try await labels.filter().result(including: inclusion)
      #expect(found.count == 4)
      #expect(found.map { "\($0)" } == expected.map { "\($0)" })
      let own = remote.dataSource(of: Song.self)
      let three = try await own.filter(where: \.seconds > 300).limit(3).result {
        $0.including(\.album) { $0.including(\.label) }
      }
      #expect(
        three.count == 3
          && three.allSatisfy { $0.1.0.reference == $0.0.album && $0.1.1.reference == $0.1.0.label })
      await #expect(throws: PersistenceError.self) {
        try await labels.filter().result { $0.including(all: \Album.label, where: .has(\.reissue)) }
      }
      let layered = try LayeredDataSource(
        local: repository.dataSource(of: Album.self), remote: remote.dataSource(of: Album.self))
      await #expect { try await layered.filter().result { $0.including(\.label) } } throws: { error in
        (error as? PersistenceError)?.code == .unsupported
      }
    }
  }

  @Test("L5 L6 L7 the parameters where, sort and include name references, and wrong ones are refused")
  func parameters() async throws {
    let store = MemoryContext()
    try Self.fill(Repository(store))
    try await RunningServer.with(store, limits: ServerLimits(relatedKeys: 35)) { server in
      let client = WireClient(port: server.port, token: RunningServer.readToken)
      func answer(_ parameters: String) async throws -> WireClient.Reply {
        try await client("GET", "/models/Album/records?" + parameters)
      }
      let page = try await answer(
        "where=has(label,name='Atlantic')&sort=-label.name,-title&include=label.owner&limit=2&select=id")
      #expect(
        page.body.hasPrefix(
          #"{"included":{"Label":[{"id":2,"name":"Atlantic","owner":3},{"id":3,"name":"Major","owner":null}]},"next":""#
        ),
        "\(page.body)")
      #expect(page.body.hasSuffix(#""records":[{"id":34},{"id":6}]}"#), "\(page.body)")
      let token = try #require(page.json?.member("next"))
      guard case .string(let text) = token else { return }
      let next = try await answer(
        "where=has(label,name='Atlantic')&sort=-label.name,-title&include=label.owner&limit=2&select=id&after="
          + text)
      #expect(next.body.hasSuffix(#""records":[{"id":26},{"id":18}]}"#), "\(next.body)")
      let other = try await answer("sort=-label.name&after=" + text)
      #expect(other.status == 400 && other.body.contains("another query"))
      let body =
        #"{"where":{"all":[{"has":"label","where":{"field":"name","is":"==","value":"Verve"}},{"not":{"hasAny":"album","model":"Song"}}]},"sort":[{"field":"name","of":"reissue"}],"include":["label",{"hasAny":"album","model":"Song","where":"seconds > 5"}]}"#
      let found = try await client("POST", "/models/Album/query", body)
      #expect(found.status == 200 && found.body.contains(#""included":{"Label":[{"id":1,"#), "\(found.body)")
      for (wrong, reason) in [
        ("where=has(title)", "not a reference"), ("include=title", "not a reference"),
        ("include=label.name", "not a reference"),
        ("include=", "malformed"), ("sort=label.nothing", "nothing"),
        ("where=hasany(Nothing,x)", "does not contain"),
        ("where=hasany(Song,album,has(album))", "more than 35"),
      ] {
        let refused = try await answer(wrong)
        #expect(refused.status == 400 && refused.body.contains(reason), "\(wrong): \(refused.body)")
      }
      for wrong in [
        #"{"where":{"has":"label","hasAny":"x"}}"#, #"{"where":{"hasAny":"album"}}"#, #"{"include":[3]}"#,
        #"{"include":[{"has":"label","sort":"name"}]}"#, #"{"where":{"has":"title","model":"Label"}}"#,
        #"{"include":[{"hasAny":"seconds","model":"Song"},{"hasAny":"title","model":"Album"}]}"#,
        #"{"sort":[{"field":"name","of":"title"}]}"#,
        #"{"sort":[{"field":"id","of":"id","model":"persistence.batches"}]}"#,
        #"{"where":{"has":"x","model":"persistence.references"}}"#,
      ] {
        let refused = try await client("POST", "/models/Album/query", wrong)
        #expect(refused.status == 400, "\(wrong): \(refused.status) \(refused.body)")
      }
      // A reserved model has no records for clients, whatever the store keeps in it.
      let hidden = try await client(
        "POST", "/models/Album/query", #"{"where":{"hasAny":"field","model":"persistence.references"}}"#)
      #expect(hidden.status == 200 && hidden.body.contains(#""records":[]"#), "\(hidden.body)")
      let deep =
        String(repeating: #"{"has":"owner","where":"#, count: 40) + "true" + String(repeating: "}", count: 40)
      #expect(try await client("POST", "/models/Label/query", #"{"where":\#(deep)}"#).body.contains("deeper"))
      // A long path takes neither the square of its length in time, nor a stack frame for each of its parts.
      let path = "owner" + String(repeating: ".owner", count: 200_000)
      for member in ["include", "sort"] {
        let refused = try await client("POST", "/models/Label/query", #"{"\#(member)":"\#(path)"}"#)
        #expect(refused.status == 400, "\(member): \(refused.status) \(refused.body.prefix(200))")
      }
      for member in ["include", "sort", "select"] {
        let long = try await client(
          "POST", "/models/Label/query", #"{"\#(member)":"\#(String(repeating: "owner,", count: 20_000))id"}"#
        )
        #expect(long.status == 400 && long.body.contains("more than 10000 names"), "\(member): \(long.body)")
      }
      let names = Array(repeating: #""id""#, count: 20_000).joined(separator: ",")
      let array = try await client("POST", "/models/Label/query", #"{"sort":[\#(names)]}"#)
      #expect(array.status == 400 && array.body.contains("more than 10000 criteria"), "\(array.body)")
      // Each keeps a value of every record in memory.
      let related = Array(repeating: "owner.name", count: 17).joined(separator: ",")
      let wide = try await client("GET", "/models/Label/records?sort=" + related)
      #expect(wide.status == 400 && wide.body.contains("more than 16 fields"), "\(wide.body)")
      let lines = try await client(
        "GET", "/models/Album/records?include=label", headers: ["Accept: application/x-ndjson"])
      #expect(lines.status == 400)
    }
  }

  @Test("L1 L2 writes through a server keep references, and 409 names a broken one")
  func writes() async throws {
    let store = MemoryContext()
    let repository = Repository(store)
    try Self.fill(repository)
    try await RunningServer.with(store) { server in
      let client = WireClient(port: server.port)
      let broken = try await client(
        "POST", "/models/Album/records", #"{"id":90,"title":"x","label":77,"reissue":null}"#)
      #expect(broken.status == 409 && broken.code == "brokenReference" && broken.body.contains("Label 77"))
      let kept = try await client("DELETE", "/models/Label/records/3")
      #expect(kept.status == 409, "\(kept.body)")
      let albums = try repository.count(Album.self)
      #expect(try await client("DELETE", "/models/Label/records/4").status == 200)
      #expect(try repository.count(Album.self) < albums)
      let remote = try RemoteServer(server.url, token: RunningServer.writeToken).dataSource(of: Album.self)
      await #expect {
        try await remote.save(Album(id: 91, title: "x", label: Reference(78), reissue: nil))
      } throws: {
        ($0 as? PersistenceError)?.code == .brokenReference
      }
    }
  }
}
