import OurContexts
import Persistence
import PersistenceConformance
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives
import PersistenceServer
import Testing

/// Clients of the version with ``Label``, ``Album`` and ``Song``, at a store whose models have other names.
@Suite("References under earlier names")
struct RenamedReferenceTests {
  fileprivate enum Renamed: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Company.self, Disc.self, Track.self]

    @Persistent("Company", was: "Label")
    struct Company {
      var id: Int
      @Field(was: "name") var title: String
      @Field(was: "owner") var parent: Reference<Company>?
    }

    @Persistent("Disc", was: "Album")
    struct Disc {
      var id: Int
      var title: String
      @Field(was: "label") @OnDelete(.cascade) var company: Reference<Company>
      @OnDelete(.setNil) var reissue: Reference<Company>?
    }

    @Persistent("Track", was: "Song")
    struct Track {
      var id: Int
      var seconds: Int
      @Field(was: "album") @OnDelete(.cascade) var disc: Reference<Disc>
    }
  }

  /// A store of the version with ``Label``.
  private func filled(_ context: ContextUnderTest) throws -> any StorageContext {
    let storage = try #require(context.makeStore().open().context.asStorageContext)
    try Repository(storage).transaction { store in
      try store.save(contentsOf: [
        Label(id: 1, name: "Verve", owner: Reference(2)), Label(id: 2, name: "Major", owner: nil),
      ])
      try store.save(contentsOf: [
        Album(id: 1, title: "a", label: Reference(1), reissue: nil),
        Album(id: 2, title: "b", label: Reference(2), reissue: nil),
      ])
      try store.save(Song(id: 1, seconds: 9, album: Reference(1)))
    }
    return storage
  }

  /// The digests of the schemas of that version, which the server gets.
  private func digests(_ client: WireClient) async throws -> [String] {
    let declarations = [
      try Album.schema.declaration, try Label.schema.declaration, try Song.schema.declaration,
    ]
    var digests: [String] = []
    for declaration in declarations {
      let schema = try WireSchema(declaration)
      let reply = try await client("PUT", "/schemas/\(schema.digest)", JSONText.canonical(schema.json))
      #expect(reply.status == 200)
      digests.append(schema.digest)
    }
    return digests
  }

  private func expectRelations(_ client: WireClient, _ path: String) async throws {
    for (parameters, records) in [
      ("where=has(label,name='Verve')", #"[{"id":1}]"#),
      ("where=has(label,has(owner,name='Major'))", #"[{"id":1}]"#),
      ("where=hasany(Song,album)", #"[{"id":1}]"#), ("sort=label.name", #"[{"id":2},{"id":1}]"#),
      ("where=id=1&include=label.owner", #"[{"id":1}]"#),
    ] {
      let reply = try await client("GET", path + "&" + parameters)
      #expect(
        reply.status == 200 && reply.body.contains(#""records":\#(records)"#),
        "\(parameters): \(reply.body)")
    }
  }

  @Test(
    "S1 L5 L6 L7 has, sort and include follow references under the names from before a rename",
    arguments: ContextUnderTest.ours)
  func earlierNames(context: ContextUnderTest) async throws {
    let storage = try filled(context)
    _ = try Repository(storage, schema: Renamed.self)
    try await RunningServer.with(storage) { server in
      let client = WireClient(port: server.port)
      let digests = try await digests(client)
      let path = "/models/Album/records?select=id&schema=" + digests.joined(separator: ",")
      try await expectRelations(client, path)
      let included = try await client("GET", path + "&where=id=1&include=label.owner")
      #expect(
        included.body.hasPrefix(
          #"{"included":{"Label":[{"id":1,"name":"Verve","owner":2},{"id":2,"name":"Major","owner":null}]}"#),
        "\(included.body)")
      // Without a declaration of the target, its records have the names of the store.
      let own = try await client(
        "GET", "/models/Album/records?select=id&include=label&where=id=1&schema=" + digests[0])
      #expect(own.body.hasPrefix(#"{"included":{"Company":[{"id":1,"#), "\(own.body)")
    }
    try storage.close()
  }

  @Test(
    "S1 L5 L6 L7 has, sort and include follow references that another program renames in the meantime",
    arguments: ContextUnderTest.ours)
  func laterNames(context: ContextUnderTest) async throws {
    let storage = try filled(context)
    try await RunningServer.with(storage) { server in
      let client = WireClient(port: server.port)
      let path =
        "/models/Album/records?select=id&schema=" + (try await digests(client).joined(separator: ","))
      try await expectRelations(client, path)
      _ = try Repository(storage, schema: Renamed.self)
      try await expectRelations(client, path)
    }
    try storage.close()
  }
}
