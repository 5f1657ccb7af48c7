import Foundation
import PersistenceDriver
import PersistenceQueryLanguage
import Testing

@testable import PersistenceTool
import PersistenceDriverSupport

@Suite("persistence explain")
struct ExplainCommandTests {
  /// Creates a store of 200 films with an index on the year.
  private func makeStore(_ url: String) throws {
    let context = try StorageEngine.open(url, engines: ToolEngines.ofFiles, monitoring: .init())
    let store = try #require(context as? any StorageContext)
    let schema = try ModelSchema(
      name: "Film",
      fields: [FieldSchema("id", .int64), FieldSchema("title", .string), FieldSchema("year", .int64)],
      key: ["id"], indexes: [IndexSchema(["year"])])
    try store.transaction { transaction in
      try transaction.define(schema)
      let buffer = RowBuffer(count: 3)
      for number in 1...200 {
        buffer.set([.integer(Int64(number)), .text("Title \(number)"), .integer(Int64(1900 + number))])
        try buffer.withRow { try transaction.insert($0, in: schema) }
      }
    }
    try store.close()
  }

  @Test("Prints the plan in words and as JSON", arguments: ToolEngines.ofFiles.map(\.scheme))
  func plans(scheme: String) throws {
    let folder = try TemporaryFolder()
    let url = "\(scheme):\(folder("films"))"
    try makeStore(url)
    let tool = ToolHarness()
    let query = ["explain", url, "Film", "--where", "year = 1950 and title = 'x'", "--sort", "-year"]
    let words = tool.run(query + ["--limit", "5"])
    #expect(words.code == 0, "\(words)")
    #expect(words.messages.isEmpty)
    let json = tool.run(query + ["--limit", "5", "--format", "json"])
    #expect(json.code == 0, "\(json)")
    #expect(json.messages.isEmpty)
    let plan = try JSONDecoder().decode(QueryPlan.self, from: Data(json.output.utf8))
    #expect(words.output == TerminalText.safe("\(plan)") + "\n")
    // The store's own plan of the same request.
    let context = try StorageEngine.open(url, engines: ToolEngines.ofFiles, monitoring: .init())
    let store = try #require(context as? any StorageContext)
    let schema = try #require(try store.catalog().first)
    let predicate = try WhereParser.predicate("year = 1950 and title = 'x'", for: schema)
    let request = try FetchRequest(
      schema, where: predicate, order: [FieldOrder("year", isDescending: true)], limit: 5)
    #expect(try store.plan(for: request) == plan)
    if store.capabilities.hasSecondaryIndexes, scheme != "json" { #expect(words.output.contains("year")) }
    try store.close()
  }

  @Test("Fetches nothing, and reports a scan")
  func scan() throws {
    let store = try Rows.store([try Rows.row(1, ["title": .text("x\u{1B}")])])
    let run = ToolHarness.holding(store)("explain", "held:", "Movie", "--where", "contains(title, 'x')")
    #expect(run.code == 0, "\(run)")
    #expect(run.output.contains("scan"))
    #expect(!run.output.contains("\u{1B}"))
  }

  @Test("Refuses invalid queries like query does")
  func mistakes() throws {
    let tool = ToolHarness.holding(try Rows.store([]))
    let run = tool("explain", "held:", "Movie", "--where", "bugdet = 5")
    #expect(run.code == 3)
    #expect(run.messages.contains("no field “bugdet”"))
    #expect(run.output.isEmpty)
    for arguments in [["--sort", "nope"], ["--limit", "-1"], ["--offset", "-1"], ["--format", "csv"]] {
      #expect(tool.run(["explain", "held:", "Movie"] + arguments).code == 3, "\(arguments)")
    }
    #expect(tool("explain", "held:", "Film").code == 3)
  }
}
