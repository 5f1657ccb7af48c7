import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceServer
import Testing

/// Pages that are requested again: a server keeps how they are read, and stores pass on short ones in one pass.
@Suite("Pages that are requested again")
struct RepeatedPageTests {
  private static let length = 60
  /// Some that pass rows on, and others.
  private static let contexts = ContextUnderTest.ours.filter { context in
    ["memory", "sqlite", "lmdb"].contains { context.name.hasPrefix($0) }
  }

  private func films(_ titleSize: Int, _ number: Int) -> [Film] {
    (0..<Self.length).map { Film($0, String(repeating: "x", count: titleSize), budget: Double(number)) }
  }

  private func records(_ films: some Sequence<Film>) -> String {
    films.map { #"{"budget":\#($0.budget ?? 0),"day":null,"id":\#($0.id),"title":"\#($0.title)"}"# }
      .joined(separator: ",")
  }

  @Test(
    "a page is the newest one, whether its records are short or too long for one chunk",
    arguments: contexts)
  func sizes(context: ContextUnderTest) async throws {
    let store = try context.makeStore()
    let repository = try store.open()
    let storage = try #require(repository.context.asStorageContext)
    try repository.save(contentsOf: films(1, 0))
    try await RunningServer.with(storage) { server in
      let client = WireClient(port: server.port)
      var number = 0
      // Pages of more than 128 KiB are sent in chunks.
      for size in [10, 5000, 10] {
        for _ in 0..<3 {
          number += 1
          let newest = films(size, number)
          try repository.save(contentsOf: newest)
          let part = try await client("GET", "/models/Film/records?limit=50")
          #expect(part.status == 200)
          #expect(part.body.hasPrefix(#"{"records":[\#(records(newest.prefix(50)))],"next":""#))
          let all = try await client("GET", "/models/Film/records?limit=60")
          #expect(all.body == #"{"records":[\#(records(newest))],"next":null}"#)
          let one = try await client("GET", "/models/Film/records?limit=1&sort=-id")
          #expect(one.body.hasPrefix(#"{"records":[\#(records(newest.suffix(1)))],"next":""#))
          let none = try await client("GET", "/models/Film/records?where=id%20%3E%20100")
          #expect(none.body == #"{"records":[],"next":null}"#)
          guard case .string(let next)? = part.json?.member("next") else {
            Issue.record("the page has no next one")
            return
          }
          let rest = try await client("GET", "/models/Film/records?limit=50&after=\(next)")
          #expect(rest.body == #"{"records":[\#(records(newest.suffix(10)))],"next":null}"#)
          if size == 10 {
            let link = "</models/Film/records?limit=50&after=\(next)>; rel=\"next\""
            #expect(part.headers["link"] == link)
            let tag = try #require(part.headers["etag"])
            let cached = try await client(
              "GET", "/models/Film/records?limit=50", headers: ["If-None-Match: \(tag)"])
            #expect(cached.status == 304 && cached.headers["link"] == link)
          }
        }
      }
    }
    try storage.close()
  }

  @Test(
    "a page ends at its size limit, with a token, when it is requested again too",
    arguments: contexts)
  func limited(context: ContextUnderTest) async throws {
    let store = try context.makeStore()
    let repository = try store.open()
    let storage = try #require(repository.context.asStorageContext)
    let films = films(1000, 1)
    try repository.save(contentsOf: films)
    var limits = ServerLimits()
    limits.pageBytes = 20_000
    try await RunningServer.with(storage, limits: limits) { server in
      let client = WireClient(port: server.port)
      for _ in 0..<4 {
        let page = try await client("GET", "/models/Film/records?limit=50")
        guard case .array(let records)? = page.json?.member("records") else {
          Issue.record("\(page.body.prefix(200))")
          return
        }
        // The record that reaches the limit is the last one.
        #expect(records.count == 20)
        #expect(page.body.hasPrefix(#"{"records":[\#(self.records(films.prefix(20)))],"next":""#))
      }
    }
    try storage.close()
  }
}
