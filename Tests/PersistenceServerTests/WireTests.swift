import Configuration
import DataAccess
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceHTTP
import PersistenceRemote
import PersistenceServer
import Testing
import PersistenceDriverSupport
import PersistencePrimitives

@Suite("Wire protocol")
struct WireTests {
  @Test("pages with readable parameters continue where the previous one ended")
  func pages() async throws {
    let context = try Film.context((0..<25).map { Film($0, "t\($0 % 3)", budget: Double($0)) })
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port, token: RunningServer.readToken)
      let base =
        "/models/Film/records?where=budget%20%3E=%205%20and%20title%20%21=%20%27t0%27&sort=title,-budget&limit=4"
      var (found, path) = ([Int](), base)
      for _ in 0..<10 {
        let json = try #require(try await client("GET", path).json)
        for record in try json.required("records").elements() {
          found.append(try record.required("id").integer())
        }
        guard case .string(let token)? = json.member("next") else { break }
        path = base + "&after=" + token
      }
      #expect(found == [22, 19, 16, 13, 10, 7, 23, 20, 17, 14, 11, 8, 5])
      let other = try await client(
        "GET", "/models/Film/records?sort=title&after=" + path.split(separator: "=").last!)
      #expect(other.status == 400)
      #expect(try await client("GET", "/models/Film/count?where=title=%27t1%27").body == "{\"count\":8}")
    }
  }

  @Test("a record has one entity tag per state, which conditional requests use")
  func tags() async throws {
    try await RunningServer.with(try Film.context([Film(1, "a")])) { server in
      let client = WireClient(port: server.port)
      let path = "/models/Film/records/1"
      let tag = try #require(try await client("GET", path).headers["etag"])
      #expect(try await client("GET", path, headers: ["If-None-Match: \"x\", W/\(tag)"]).status == 304)
      #expect(try await client("GET", path, headers: ["If-None-Match: \"x\""]).status == 200)
      let body = "{\"id\":1,\"title\":\"b\"}"
      #expect(try await client("PUT", path, body, headers: ["If-None-Match: *"]).code == "duplicateKey")
      #expect(try await client("PUT", path, body, headers: ["If-Match: \"x\""]).code == "conflict")
      let changed = try await client("PUT", path, body, headers: ["If-Match: \(tag)"])
      #expect(changed.status == 200 && changed.headers["etag"] != tag)
      #expect(try await client("DELETE", path, headers: ["If-Match: \(tag)"]).status == 412)
      // A weak match may be another state.
      let now = try #require(changed.headers["etag"])
      let weak = try await client("PUT", path, body, headers: ["If-Match: W/\(now)"])
      #expect(weak.status == 412 && weak.code == "conflict")
      #expect(try await client("PUT", path, body, headers: ["If-Match: W/\(now), \(now)"]).status == 200)
      #expect(try await client("PUT", path, "{\"title\":\"a\",\"id\":1}").headers["etag"] == tag)
      #expect(try await client("HEAD", path).body.isEmpty)
      #expect(try await client("DELETE", path, headers: ["If-Match: \(tag)"]).status == 200)
      let missing = try await client("PUT", path, body, headers: ["If-Match: *"])
      #expect(missing.status == 412 && missing.code == "notFound")
      #expect(try await client("PUT", path, body, headers: ["If-None-Match: *"]).status == 201)
    }
  }

  @Test(
    "a repeated batch is not applied again, by body or header id, and none is applied in part",
    arguments: ContextUnderTest.ours)
  func batches(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    let storage = try #require(repository.context.asStorageContext)
    try repository.insert(Film(1))
    try await RunningServer.with(storage) { server in
      let client = WireClient(port: server.port)
      let id = "Idempotency-Key: \"\(UUID().uuidString)\""
      func changes(_ ids: Int...) -> String {
        let list = ids.map { "{\"model\":\"Film\",\"insert\":{\"id\":\($0),\"title\":\"x\"}}" }
        return "{\"changes\":[\(list.joined(separator: ","))]}"
      }
      let failed = try await client("POST", "/batches", changes(2, 3, 1), headers: [id])
      #expect(failed.status == 409 && failed.code == "duplicateKey")
      #expect(try failed.json?.member("change")?.integer() == 2)
      #expect(try repository.count(Film.self) == 1)
      #expect(try await client("POST", "/batches", changes(2, 3), headers: [id]).body == "{\"applied\":true}")
      #expect(
        try await client("POST", "/batches", changes(2, 3), headers: [id]).body == "{\"applied\":false}")
      // The same id with other changes would be lost silently.
      let reused = try await client("POST", "/batches", changes(4), headers: [id])
      #expect(reused.status == 422 && reused.code == "batchReused")
      #expect(try repository.count(Film.self) == 3)
      #expect(!(try await client("GET", "/models").body.contains("persistence.")))
    }
    try storage.close()
  }

  @Test("server and client reject a model with another schema, and list the differences")
  func mismatch() async throws {
    let other = try ModelSchema(
      name: "Film", fields: [FieldSchema("id", .int64), FieldSchema("title", .data)], key: ["id"])
    let context = MemoryContext()
    try context.transaction { try $0.define(other) }
    try await RunningServer.with(context) { server in
      let source = try RemoteServer(server.url, token: RunningServer.writeToken).dataSource(of: Film.self)
      for call in [{ try await source.insert(Film(1)) }, { try await source.find(1) ?? Film(0) }] {
        let error = await #expect(throws: PersistenceError.self) { try await call() }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.differences.compactMap(\.field?.name) == ["title"])
        #expect(error?.message.contains("another stored name") == true, "the word that settles it")
      }
      let reply = try await WireClient(port: server.port)(
        "PUT", "/models/Film", JSONText.canonical(try Film.schema.model.json))
      #expect(reply.status == 409 && reply.code == "schemaMismatch")
    }
  }

  @Test("the OpenAPI description lists every model under any name, and its references resolve")
  func description() async throws {
    let context = MemoryContext()
    // Some are numbers, for models whose names are not valid component names.
    let models = ["Film", "a/b", "..", "", "Film 2", "ü"] + (0..<16).map { "\($0)" }
    try context.transaction { transaction in
      for name in models {
        try transaction.define(
          try ModelSchema(
            name: name, fields: FieldKind.allCases.map { FieldSchema($0.rawValue, $0) },
            key: ["uuid", "string"]))
      }
    }
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port)
      let text = try await client("GET", "/openapi.json").body
      let json = try JSONParser.parse(text)
      guard case .object(let paths)? = json.member("paths"),
        case .object(let schemas)? = json.member("components")?.member("schemas")
      else {
        Issue.record("no paths or schemas")
        return
      }
      let names = Set(schemas.map(\.name))
      #expect(names.count == schemas.count)
      #expect(paths.filter { $0.name.hasSuffix("/records") }.count == models.count)
      for part in text.split(separator: "#/components/schemas/").dropFirst() {
        #expect(names.contains(String(part.prefix { $0 != "\"" })))
      }
      for path in paths.map(\.name) where path.hasSuffix("/records") {
        #expect(try await client("GET", path).body == "{\"records\":[],\"next\":null}", "\(path)")
      }
    }
  }

  @Test("a URL opens an engine or a server, including a third-party one")
  func anyStores() async throws {
    try await RunningServer.with(try Film.context([Film(1, "here")])) { server in
      let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try Data((RunningServer.writeToken + "\n").utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      let url = "\(server.url)?tokenfile=\(file.path)&timeout=10s"
      let configuration = ConfigReader(
        provider: EnvironmentVariablesProvider(environmentVariables: ["PERSISTENCE_URL": url]))
      for sources in [
        try DataSources(
          configuration: configuration, engines: [], tokenSources: TokenSources(files: [file.path])),
        try DataSources(opening: "memory:", engines: []),
      ] {
        let films = sources.dataSource(of: Film.self)
        try await films.save(Film(2, "new"))
        #expect(try await films.find(2) == Film(2, "new"))
      }
      for wrong in [
        "\(server.url)?token=x", "http:", "https://", "\(server.url)?tokenfile=/nowhere", "ftp://x",
      ] {
        let error = #expect(throws: PersistenceError.self) { try DataSources(opening: wrong, engines: []) }
        #expect(error?.code == .invalidURL, "\(wrong)")
      }

      var mapping = RemoteMapping()
      mapping.collections["Film"] = "/models/Film/records"
      mapping.records = ["records"]
      mapping.conditions = .none
      mapping.pageSize = 7
      let mapped = try RemoteServer(server.url, token: RunningServer.writeToken, mapping: mapping).dataSource(
        of: Film.self)
      for number in 3..<30 { try await mapped.insert(Film(number, "t")) }
      #expect(
        try await mapped.filter().sorted(by: \.id, inOrder: .descending).offset(2).limit(20).result().map(
          \.id)
          == Array((8..<28).reversed()))
      #expect(try await mapped.filter().count() == 29)
      try await mapped.update(Film(3, "changed"), replacing: Film(3, "t"))
      let conflict = await #expect(throws: PersistenceError.self) {
        try await mapped.update(Film(3, "lost"), replacing: Film(3, "t"))
      }
      #expect(conflict?.code == .conflict)
      #expect(try await mapped.delete(Film(3))?.title == "changed")
      #expect(try await mapped.find(3) == nil)
      let double = await #expect(throws: PersistenceError.self) { try await mapped.insert(Film(4)) }
      #expect(double?.code == .duplicateKey)
      let unsupported = await #expect(throws: PersistenceError.self) {
        try await mapped.filter(where: \.title == "t").result()
      }
      #expect(unsupported?.code == .unsupported)
    }
  }
}
