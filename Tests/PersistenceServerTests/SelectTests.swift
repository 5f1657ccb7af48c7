import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistencePrimitives
import PersistenceServer
import Synchronization
import Testing

@Suite("Selected fields of records")
struct SelectTests {
  private static let films = (1...7).map { Film($0, "t\($0)", budget: Double(10 - $0)) }

  @Test(
    "pages, lines and single records have the selected fields only, and tokens continue in the order",
    arguments: ContextUnderTest.ours)
  func forms(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    let storage = try #require(repository.context.asStorageContext)
    try repository.insert(contentsOf: Self.films)
    try await RunningServer.with(storage) { server in
      let client = WireClient(port: server.port, token: RunningServer.readToken)
      // The order uses fields that the answer does not have.
      let base = "/models/Film/records?select=title&sort=budget&limit=3&where=id%20%3E%201"
      var (found, path) = ([String](), base)
      for _ in 0..<4 {
        let page = try await client("GET", path)
        let records = try #require(page.json?.member("records")).elements()
        found += records.map(JSONText.canonical)
        guard case .string(let token)? = page.json?.member("next") else { break }
        path = base + "&after=" + token
      }
      #expect(found == (2...7).reversed().map { #"{"title":"t\#($0)"}"# })
      let lines = try await client(
        "GET", "/models/Film/records?select=title,budget&limit=2", headers: ["Accept: application/x-ndjson"])
      #expect(lines.body == #"{"budget":9.0,"title":"t1"}"# + "\n" + #"{"budget":8.0,"title":"t2"}"# + "\n")
      for select in [#""id""#, #"["id"]"#, #"["\u0069d"]"#] {
        let body = #"{"select":\#(select),"sort":["-title"],"limit":1}"#
        let page = try await client("POST", "/models/Film/query", body)
        #expect(page.json?.member("records").map(JSONText.canonical) == #"[{"id":7}]"#, "\(select)")
      }
      let nothing = try await client("GET", "/models/Film/query?select=day,%22id%22&limit=1")
      #expect(nothing.body.hasPrefix(#"{"records":[{"day":null,"id":1}],"#))
      #expect(try await client("GET", "/models/Film/records/3?select=budget").body == #"{"budget":7.0}"#)
    }
    try storage.close()
  }

  @Test("the tag of a page is that of its answer, and the tag of a record that of the whole record")
  func tags() async throws {
    try await RunningServer.with(try Film.context(Self.films)) { server in
      let client = WireClient(port: server.port)
      let path = "/models/Film/records?select=title&limit=2"
      let page = try await client("GET", path, headers: ["Prefer: count=exact"])
      #expect(page.headers["content-range"] == "records */7")
      let tag = try #require(page.headers["etag"])
      #expect(try await client("GET", path, headers: ["If-None-Match: \(tag)"]).status == 304)
      let whole = try await client("GET", "/models/Film/records?limit=2")
      #expect(whole.headers["etag"] != tag)
      let link = try #require(page.headers["link"]?.split(separator: ">").first?.dropFirst())
      let next = try await client("GET", String(link))
      #expect(next.body.hasPrefix(#"{"records":[{"title":"t3"},{"title":"t4"}]"#))
      // A change of another field leaves the page as it is.
      let record = try await client("GET", "/models/Film/records/1?select=title")
      let guarding = try #require(record.headers["etag"])
      #expect(try await client("GET", "/models/Film/records/1").headers["etag"] == guarding)
      let patch = try await client(
        "PATCH", "/models/Film/records/1", #"{"budget":1}"#, headers: ["If-Match: \(guarding)"])
      #expect(patch.status == 200)
      #expect(try await client("GET", path, headers: ["If-None-Match: \(tag)"]).status == 304)
      let late = try await client(
        "GET", "/models/Film/records/1?select=title", headers: ["If-Match: \(guarding)"])
      #expect(late.status == 412)
      let head = try await client("HEAD", "/models/Film/records/1?select=title")
      #expect(head.status == 200 && head.body.isEmpty)
    }
  }

  @Test("a long selection is compressed and streamed like whole records")
  func long() async throws {
    let films = (1...900).map { Film($0, String(repeating: "x", count: 500)) }
    try await RunningServer.with(try Film.context(films)) { server in
      let client = WireClient(port: server.port)
      let path = "/models/Film/records?select=title&limit=899"
      let plain = try await client("GET", path)
      let records = try #require(plain.json?.member("records")).elements()
      #expect(records.count == 899 && records.allSatisfy { $0.member("id") == nil })
      guard case .string(let token)? = plain.json?.member("next") else {
        Issue.record("the page has no next one")
        return
      }
      let rest = try await client("GET", "/models/Film/records?select=id&after=\(token)")
      #expect(rest.body == #"{"records":[{"id":900}],"next":null}"#)
      let packed = try await client("GET", path, headers: ["Accept-Encoding: gzip"])
      #expect(packed.headers["content-encoding"] == "gzip")
      #expect(packed.body.utf8.count < plain.body.utf8.count / 4)
    }
  }

  @Test("the store reads the selected fields and those of the order, and no others")
  func selection() async throws {
    let context = SelectingContext(try Film.context(Self.films))
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port)
      _ = try await client("GET", "/models/Film/records?select=title&sort=-budget")
      #expect(context.last == [1, 2, 0])
      _ = try await client(
        "GET", "/models/Film/records?select=title&sort=-budget", headers: ["Accept: application/x-ndjson"])
      #expect(context.last == [1])
      _ = try await client("POST", "/models/Film/query", #"{"select":["day","id"]}"#)
      #expect(context.last == [3, 0])
      _ = try await client("GET", "/models/Film/records")
      #expect(context.last == nil)
    }
  }

  @Test("an unknown, repeated or missing name is refused with a problem that names it")
  func refused() async throws {
    let context = try Film.context(Self.films)
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port)
      for (query, code, named) in [
        ("select=nothing", "unknownField", "nothing"), ("select=title,Title", "unknownField", "Title"),
        ("select=title.count", "unknownField", "title"), ("select=", "invalidRequest", "select"),
        ("select=title,", "invalidRequest", "select"), ("select=,", "invalidRequest", "select"),
        ("select=title,title", "invalidRequest", "title"), ("select=-title", "invalidRequest", "title"),
        ("select=%22title", "invalidRequest", "select"),
        ("select=id&select=title", "invalidRequest", "select"),
      ] {
        for path in ["records", "query", "records/1"] {
          let reply = try await client("GET", "/models/Film/\(path)?\(query)")
          #expect(reply.status == 400 && reply.code == code, "\(path) \(query): \(reply.body)")
          #expect(reply.body.contains(named), "\(query): \(reply.body)")
        }
      }
      for select in ["[]", "\"\"", "1", "null", "{}", "[1]", "[\"title\",\"title\"]", "[\"-title\"]"] {
        let reply = try await client("POST", "/models/Film/query", #"{"select":\#(select)}"#)
        #expect(reply.status == 400, "\(select): \(reply.body)")
      }
      // A number of records has no fields.
      #expect(try await client("GET", "/models/Film/count?select=id").code == "invalidRequest")
      #expect(try await client("POST", "/models/Film/count", #"{"select":["id"]}"#).status == 400)
      #expect(try await client("DELETE", "/models/Film/records/1?select=id").status == 400)
    }
  }

  @Test("a removed field is unknown, and a client's schema selects its own fields [S1, S8]")
  func versions() async throws {
    let context = try Film.context(Self.films)
    _ = try Repository(context, schema: BudgetlessFilms.self)
    try await RunningServer.with(context) { server in
      let client = WireClient(port: server.port)
      let removed = try await client("GET", "/models/Film/records?select=budget")
      #expect(removed.code == "unknownField")
      #expect(!removed.body.contains("persistence.removed"))
      #expect(try await client("GET", "/models/Film/records?select=title&limit=1").body.contains("t1"))
      let schema = try WireSchema(RatedFilm.schema.declaration)
      let sent = try await client("PUT", "/schemas/\(schema.digest)", JSONText.canonical(schema.json))
      #expect(sent.status == 200)
      let filled = try await client(
        "GET", "/models/Film/records?select=rating,title&sort=rating&limit=2&schema=\(schema.digest)")
      #expect(
        filled.body.hasPrefix(#"{"records":[{"rating":"PG","title":"t1"},{"rating":"PG","title":"t2"}]"#),
        "\(filled.body)")
    }
  }
}

/// A context that remembers which fields were selected last.
private final class SelectingContext: StorageContextWrapper {
  let wrapped: any StorageContext
  private let selected = Mutex<[Int]?>(nil)

  var last: [Int]? { selected.withLock(\.self) }

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func fetch(_ request: FetchRequest) throws -> any StorageResults {
    selected.withLock { $0 = nil }
    return try wrapped.fetch(request)
  }

  func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    selected.withLock { $0 = positions }
    return try wrapped.fetch(request, selecting: positions)
  }
}
