import DataAccess
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives
import PersistenceRemote
import PersistenceServer
import TestSupport
import Testing

@Suite("Schemas of clients at a server")
struct VersionServerTests {
  @Test("a client goes on at a restarted server, whatever the version of its store", .timeLimit(.minutes(1)))
  func restarted() async throws {
    let port = Int.random(in: 10_000..<32_000)  // not one that a client's connection could take meanwhile
    let remote = try RemoteServer("http://127.0.0.1:\(port)", token: RunningServer.writeToken)
    let (films, newer) = (remote.dataSource(of: Film.self), remote.dataSource(of: RatedFilm.self))
    func serving(
      _ context: any StorageContext, evolution: ServerEvolution = .none, _ body: () async throws -> Void
    ) async throws {
      let running = try await RunningServer.start(context, evolution: evolution, port: port)
      // A connection to the earlier server may still have to break.
      try await until { try await isAnswered() }
      try await body()
      running.askToStop()
      try await running.ended()
    }
    func isAnswered() async throws -> Bool {
      do {
        _ = try await newer.count(FetchOptions())
        return true
      } catch {
        guard error.isRetryable else { throw error }
        return false
      }
    }
    let context = try Film.context([Film(1, "a", budget: 1)])
    try await serving(context) {
      let film = try await films.find(1)
      #expect(film == Film(1, "a", budget: 1))
    }
    _ = try Repository(context, schema: RatedFilms.self)
    try await serving(context) {
      try await newer.save(RatedFilm(1, "A", rating: "R"))
      #expect(try await films.find(1) == Film(1, "A", budget: 1))
    }
    // An earlier copy of the store, which lacks the fields that the client has already written.
    let earlier = try Film.context([Film(1, "old")])
    try await serving(earlier, evolution: .additive) {
      #expect(try await newer.find(1) == RatedFilm(1, "old"))
      try await newer.save(RatedFilm(2, "b", rating: "R"))
      #expect(try await newer.find(2)?.rating == "R")
    }
    try await serving(MemoryContext()) {
      #expect(try await films.find(1) == nil)
      try await films.save(Film(7))
      #expect(try await films.find(7) == Film(7))
    }
  }

  @Test("a server accepts only the schemas whose digest a path has, and asks for one that it does not know")
  func schemas() async throws {
    try await RunningServer.with(try Film.context([Film(1, "a")])) { running in
      let schema = try WireSchema(TitledFilm.schema.declaration)
      let body = JSONText.canonical(schema.json)
      let client = WireClient(port: running.port, token: RunningServer.readToken)
      let writer = WireClient(port: running.port)
      let path = "/models/Film/records/1?schema=\(schema.digest)"
      let unknown = try await client("GET", path)
      #expect(unknown.status == 428 && unknown.code == "unknownSchema")
      #expect(try await client("PUT", "/schemas/x", body).status == 400)
      #expect(try await client("GET", "/schemas/\(schema.digest)").status == 405)
      #expect(
        try await client("PUT", "/schemas/\(schema.digest)", body).status == 200, "a reader may send it")
      #expect(try await client("PUT", "/models/Film", body).status == 403)
      let record = try await client("GET", path)
      #expect(record.body == #"{"id":1,"title":"a"}"#)
      for name in ["%73chema", "s%63hema", "schem%61", "select=title&schema", "where=id=1&schem%61"] {
        let page = try await client("GET", "/models/Film/records?\(name)=\(schema.digest)")
        #expect(page.status == 200 && !page.body.contains("budget"), "\(name)")
      }
      let whole = try await client("GET", "/models/Film/records/1")
      #expect(whole.body.contains("budget") && whole.headers["etag"] != record.headers["etag"])
      #expect(try await client("GET", "/models/Other/records?schema=\(schema.digest)").status == 400)
      #expect(try await client("GET", "/models/Film?schema=\(schema.digest)").status == 400)
      let long = #"{"id":1,"title":"b","budget":1}"#
      #expect(try await writer("PUT", path, long).code == "unknownField")
      #expect(try await writer("PUT", path, #"{"id":1,"title":"b"}"#).status == 200)
      for reserved in [
        #"{"name":"persistence.x","key":["id"],"indexes":[],"fields":[{"name":"id","kind":"int64","isOptional":false}]}"#,
        #"{"name":"X","was":["persistence.x"],"key":["id"],"indexes":[],"fields":[{"name":"id","kind":"int64","isOptional":false}]}"#,
        #"{"name":"X","key":["id"],"indexes":[],"fields":[{"name":"id","kind":"int64","isOptional":false,"fill":"x"}]}"#,
      ] {
        #expect(try await writer("PUT", "/models/X", reserved).status == 400, "\(reserved)")
        #expect(try await writer("PUT", "/models/persistence.x", reserved).status == 400, "\(reserved)")
      }
    }
  }
}
