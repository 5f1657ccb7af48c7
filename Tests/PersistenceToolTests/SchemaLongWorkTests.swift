import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceTool
import Testing

/// Commands that read or write many records, and can be interrupted.
@Suite("Schema commands on many records")
struct SchemaLongWorkTests {
  private typealias Stores = SchemaCommandTests

  private let stores: Stores
  private var tool: ToolHarness { stores.tool }

  init() throws { stores = try Stores() }

  @Test("compact --backup first copies what it erases", arguments: ToolEngines.ofFiles.map(\.scheme))
  func backup(scheme: String) throws {
    let url = try stores.makeStore(scheme)
    #expect(tool("schema", "apply", try stores.file("second.json", Stores.second), url).code == 0)
    let path = stores.folder("backup")
    let copy = "\(scheme):\(path)"
    // Nothing is copied or erased if the command is wrong.
    #expect(tool("schema", "compact", url, "--backup", path).code == 3)
    #expect(tool("schema", "compact", url, "--erase", "Film.rating", "--backup", path).code == 3)
    #expect(!FileManager.default.fileExists(atPath: path))
    let run = tool("schema", "compact", url, "--erase", "Film.nick", "--erase", "Draft", "--backup", path)
    #expect(run.code == 0, "\(run)")
    #expect(run.output.hasSuffix("erased Film.nick: 2 values\nerased Draft: 3 records\n"), "\(run)")
    #expect(tool("schema", "compact", url).output == "the store contains nothing removed\n")
    #expect(tool("schema", "restore", copy, "Film.nick").output == "restored Film.nick: 2 values\n")
    #expect(tool("schema", "restore", copy, "Draft").output == "restored Draft: 3 records\n")
    #expect(
      tool("query", copy, "Film", "--fields", "id,nick", "--format", "csv").output
        == "id,nick\r\n1,n1\r\n2,\r\n3,n3\r\n")
    // A backup never replaces anything.
    let again = tool("schema", "compact", copy, "--erase", "Film.nick", "--backup", path)
    #expect(again.code == 3 && again.messages.contains("exists already"), "\(again)")
  }

  @Test(
    "apply builds the indexes of a large model after the change, and goes on after an interruption",
    arguments: ["sqlite", "lmdb"])
  func largeIndexes(scheme: String) throws {
    let url = stores.url(scheme)
    let store = try #require(
      try StorageEngine.open(url, engines: ToolEngines.ofFiles, monitoring: Monitoring()).asStorageContext)
    let movie = try #require(Stores.first.models.first { $0.name == "Movie" })
    let schema = try movie.declaration.schema
    try store.transaction { transaction in
      try transaction.define(schema)
      let row = RowBuffer(count: 3)
      for number in 1...5_001 {
        row.set([.integer(Int64(number)), .double(Double(number % 10)), .null])
        try row.withRow { try transaction.insert($0, in: schema) }
      }
    }
    try store.close()
    var indexed = SchemaDocument(models: [movie])
    indexed.models[0].indexes = [IndexSchema(["cost"])]
    let path = try stores.file("indexed.json", indexed)
    let check = tool("schema", "check", path, url)
    #expect(check.output.contains("* Movie: changes only the catalog\n"), "\(check)")
    #expect(check.output.contains(", which finishIndexes() builds\n"), "\(check)")
    var interrupted = tool
    interrupted.isInterrupted = { true }
    #expect(interrupted("schema", "apply", path, url).code == 130)
    let waiting = tool("schema", "show", url)
    #expect(waiting.output.contains(", not built: finishIndexes() builds it\n"), "\(waiting)")
    #expect(tool("query", url, "Movie", "--where", "cost = 3.0 and id < 30").messages == "3 records\n")
    let run = tool("schema", "apply", path, url)
    #expect(run.code == 0 && run.output == "= Movie: same\n", "\(run)")
    #expect(!tool("schema", "show", url).output.contains("not built"))
    #expect(tool("query", url, "Movie", "--where", "cost = 3.0 and id < 30").messages == "3 records\n")
  }

  @Test(
    "compact that is interrupted leaves the rest, and goes on", arguments: ToolEngines.ofFiles.map(\.scheme))
  func interruptedCompact(scheme: String) throws {
    let url = try stores.makeStore(scheme)
    #expect(tool("schema", "apply", try stores.file("second.json", Stores.second), url).code == 0)
    var interrupted = tool
    interrupted.isInterrupted = { true }
    let run = interrupted("schema", "compact", url, "--erase", "Film.nick", "--erase", "Draft")
    #expect(run.code == 130, "\(run)")
    let refusal = tool("schema", "compact", url)
    #expect(refusal.messages.contains("Film.nick: 2 values; Draft: 3 records"), "\(refusal)")
    #expect(tool("schema", "compact", url, "--erase", "Film.nick", "--erase", "Draft").code == 0)
  }
}
