import Foundation
import PersistenceDriver
import PersistenceMigration
import Testing

@testable import PersistenceTool
import PersistenceDriverSupport
import PersistencePrimitives

@Suite("Commands and exit codes")
struct ToolCommandTests {
  private func movies() throws -> MemoryContext {
    try Rows.store(
      (1...300).map { number in
        try Rows.row(
          number,
          [
            "title": number == 300 ? .null : .text("Title \(number % 10)"),
            "budget": .double(Double(number) * 1e5),
            "rating": .text(number % 3 == 0 ? "PG-13" : "R"), "year": .integer(1900 + number % 50),
          ])
      })
  }

  @Test("query prints sorted, paged rows in three formats, and the count on standard error")
  func query() throws {
    let tool = ToolHarness.holding(try movies())
    let arguments = [
      "query", "held:", "Movie", "--where", "budget >= 1e7 and rating = 'PG-13'", "--sort", "title,-budget",
      "--limit", "3", "--fields",
      "id,title,budget",
    ]
    let table = tool.run(arguments)
    #expect(table.code == 0, "\(table)")
    #expect(table.messages == "3 records\n")
    #expect(
      table.output == """
         id  title      budget
        ───  ───────  ────────
        300  null     30000000.0
        """.replacing("30000000.0", with: "30000000") + "\n270  Title 0  27000000\n240  Title 0  24000000\n")
    let json = tool.run(arguments + ["--format", "json"])
    #expect(
      json.output == """
        [
        {"id":300,"title":null,"budget":30000000.0},
        {"id":270,"title":"Title 0","budget":27000000.0},
        {"id":240,"title":"Title 0","budget":24000000.0}
        ]

        """)
    #expect(json.messages.isEmpty)
    #expect(
      tool.run(arguments + ["--format", "csv"]).output
        == "id,title,budget\r\n300,,30000000.0\r\n270,\"Title 0\",27000000.0\r\n240,\"Title 0\",24000000.0\r\n"
    )
    #expect(tool("query", "held:", "Movie", "--where", "false", "--format", "json").output == "[]\n")
    let all = tool("query", "held:", "Movie", "--offset", "298", "--format", "json", "--fields", "id")
    #expect(all.output == "[\n{\"id\":299},\n{\"id\":300}\n]\n")
    let last = tool(
      "query", "held:", "Movie", "--sort", "-id", "--limit", "1", "--fields", "id", "--format", "csv")
    #expect(last.output == "id\r\n300\r\n", "a descending order may come first")
    #expect(tool("query", "held:", "Movie", "--plan", "--limit", "0").messages.contains("plan: scan"))
  }

  @Test("Conditions, fields and names in rules may start with a minus")
  func minus() throws {
    let schema = try ModelSchema(
      name: "-M", fields: [FieldSchema("id", .int64), FieldSchema("-n", .int64)], key: ["id"])
    let destination = MemoryContext()
    var tool = ToolHarness.holding(try Rows.store([[.integer(1), .integer(-5)]], schema))
    tool.engines.append(ToolHarness.held("other", destination))
    let query = tool(
      "query", "held:", "--where", "-1 < id", "--fields", "-n", "--format", "csv", "--", "-M")
    #expect(query.output == "-n\r\n-5\r\n", "\(query)")
    let explain = tool("explain", "held:", "--where", "-1 < id", "--", "-M")
    #expect(explain.code == 0, "\(explain)")
    let run = tool(
      "migrate", "held:", "other:", "--model", "-M", "--map", "-M.-n=name:-k", "--rename", "-M=-N")
    #expect(run.code == 0, "\(run)")
    #expect(try destination.schema(of: "-N", in: "").field(named: "-k") != nil)
  }

  @Test("Invalid conditions are usage errors that show the position")
  func wrongConditions() throws {
    let tool = ToolHarness.holding(try movies())
    let run = tool("query", "held:", "Movie", "--where", "budget >= 1e7 and bugdet = 5")
    #expect(run.code == 3)
    #expect(run.messages.contains("  budget >= 1e7 and bugdet = 5\n                    ^"))
    #expect(run.messages.contains("no field “bugdet”"))
    for arguments in [
      ["--sort", "nope"], ["--fields", "nope"], ["--limit", "-1"], ["--offset", "-1"], ["--sort", "cast"],
      ["--format", "xml"],
      ["--sort", ""], ["--limit", "x"],
    ] {
      #expect(tool.run(["query", "held:", "Movie"] + arguments).code == 3, "\(arguments)")
    }
    let unknown = tool("query", "held:", "Film")
    #expect(unknown.code == 3)
    #expect(unknown.messages.contains("its models are “Movie”"))
  }

  @Test("inspect describes a store as a table and as JSON")
  func inspect() throws {
    let tool = ToolHarness.holding(try movies())
    let run = tool("inspect", "held:")
    #expect(run.code == 0)
    #expect(run.output.contains("Movie: 300 records"))
    #expect(run.output.contains(/\nid +int64 +key\n/))
    #expect(run.output.contains(/\nbudget +double\?\n/))
    let json = tool("inspect", "held:", "--format", "json")
    guard case .array(let models)? = try JSONParser.parse(json.output).member("models"),
      case .number("300")? = models.first?.member("count")
    else {
      Issue.record("\(json.output)")
      return
    }
  }

  @Test("migrate copies and refuses a non-empty destination; verify reports differences by exit code")
  func migrateAndVerify() throws {
    let (source, destination) = (try movies(), MemoryContext())
    var tool = ToolHarness.holding(source)
    tool.engines.append(ToolHarness.held("other", destination))
    let run = tool("migrate", "held:", "other:", "--batch", "7")
    #expect(run.code == 0, "\(run)")
    #expect(run.output.contains("300 records of 1 model copied, verified by digest"))
    let equal = tool("verify", "held:", "other:")
    #expect(equal.code == 0)
    #expect(equal.output.hasPrefix("= Movie: 300 records, digest "))
    let again = tool("migrate", "held:", "other:")
    #expect(again.code == 4)
    #expect(again.messages.contains("holds 300 records of Movie"))
    let schema = try Rows.movie.get()
    try destination.transaction { transaction in
      _ = try transaction.delete(RecordKey([.integer(5)]), in: schema)
      let buffer = RowBuffer(count: schema.fields.count)
      buffer.set(try Rows.row(7, ["title": .text("changed\u{1B}")]))
      try buffer.withRow { try transaction.update($0, in: schema) }
    }
    let different = tool("verify", "held:", "other:")
    #expect(different.code == 1)
    #expect(different.output.contains("* Movie: 298 equal, 1 only in A, 0 only in B, 1 changed"))
    #expect(different.output.contains("  - 5\n"))
    #expect(different.output.contains("  * 7\n"))
    #expect(different.output.contains("title: 'Title 7' in A, 'changed\\u{1b}' in B"))
    #expect(tool("verify", "held:", "other:", "--format", "json").code == 1)
  }

  @Test("Progress goes to standard error, or nowhere")
  func progress() throws {
    var tool = ToolHarness.holding(try movies())
    tool.engines.append(ToolHarness.held("other", MemoryContext()))
    let run = tool("migrate", "held:", "other:", "--progress", "none", "--format", "json")
    #expect(run.code == 0)
    #expect(run.messages.isEmpty)
    #expect(try JSONDecoder().decode(MigrationReport.self, from: Data(run.output.utf8)).counts.written == 300)
  }

  @Test("An interrupted migration exits with 130 and reports the partial destination")
  func interrupted() throws {
    let destination = MemoryContext()
    var tool = ToolHarness.holding(try movies())
    tool.engines.append(ToolHarness.held("other", destination))
    tool.isInterrupted = { ((try? destination.count(FetchRequest(Rows.movie.get()))) ?? 0) >= 100 }
    let run = tool("migrate", "held:", "other:", "--batch", "50")
    #expect(run.code == 130, "\(run)")
    #expect(run.messages.contains("holds part of the source"))
    #expect(try destination.count(FetchRequest(Rows.movie.get())) == 100)
  }

  @Test(
    "A missing source is an error, and nothing is created", arguments: ToolEngines.ofFiles.map(\.scheme))
  func missing(scheme: String) throws {
    let folder = try TemporaryFolder()
    let tool = ToolHarness()
    let (none, other) = ("\(scheme):\(folder("none"))", "\(scheme):\(folder("other"))")
    for arguments in [
      ["inspect", none], ["query", none, "M"], ["explain", none, "M"],
      ["export", none, "M", folder("m.csv")],
      ["migrate", none, other], ["verify", none, other],
    ] {
      let run = tool.run(arguments)
      #expect(run.code == 4, "\(arguments): \(run)")
      #expect(run.messages.contains("missingStore"))
      #expect(folder.names.isEmpty)
    }
  }

  @Test(
    "Invalid options of either store fail before anything is opened",
    arguments: ToolEngines.ofFiles.map(\.scheme))
  func wrongOptions(scheme: String) throws {
    let folder = try TemporaryFolder()
    let tool = ToolHarness.holding(try movies())
    let run = tool("migrate", "held:", "\(scheme):\(folder("new"))?nonsense=1")
    #expect(run.code == 3, "\(run)")
    #expect(tool("migrate", "held:", "\(scheme):\(folder("new"))", "--nonsense").code == 3)
    #expect(tool("migrate", "held:", "nope:\(folder("new"))").code == 3)
    #expect(tool("migrate", "\(scheme):\(folder("new"))", "\(scheme):\(folder("new"))").code == 3)
    #expect(folder.names.isEmpty)
  }

  @Test("Help is a result; invalid commands are usage errors")
  func help() {
    let tool = ToolHarness()
    for arguments in [["--help"], [], ["help"], ["help", "query"], ["query", "--help"]] {
      let run = tool.run(arguments)
      #expect(run.code == 0, "\(arguments)")
      #expect(run.output.contains("USAGE: persistence"))
      #expect(run.messages.isEmpty)
    }
    for arguments in [
      ["nope"], ["query"], ["inspect"], ["inspect", "a:", "b:"], ["inspect", "nope:x"], ["inspect", "x"],
    ] {
      let run = tool.run(arguments)
      #expect(run.code == 3, "\(arguments): \(run)")
      #expect(run.output.isEmpty)
      #expect(run.messages.hasPrefix("Error: "))
    }
  }

  @Test("A failed write of the output is a failure")
  func brokenOutput() throws {
    let engines = ToolHarness.holding(try movies()).engines
    let session = ToolSession(
      output: ByteOutput { _ in throw ToolFailure.inputOutput("the disk is full") },
      messages: ByteOutput { _ in }, engines: engines)
    #expect(ToolRunner.run(["query", "held:", "Movie"], in: session) == 4)
  }
}
