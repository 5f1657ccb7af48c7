import Foundation
import PersistenceDriver
import PersistenceMigration
import Synchronization
import Testing

@testable import PersistenceTool
import PersistenceDriverSupport
import PersistencePrimitives

@Suite("persistence migrate: options, plans, reports and exit codes")
struct MigrateCommandTests {
  private let folder: TemporaryFolder
  private let destination = MemoryContext()

  init() throws { folder = try TemporaryFolder() }

  private func harness(_ source: MemoryContext) -> ToolHarness {
    var tool = ToolHarness.holding(source)
    tool.engines.append(ToolHarness.held("other", destination))
    return tool
  }

  private static func count(in store: MemoryContext) -> Int {
    let schema = try? store.catalog().first { $0.name == "Movie" }
    return schema.flatMap { try? store.count(FetchRequest($0)) } ?? 0
  }

  private func movies(_ count: Int64 = 10) throws -> MemoryContext {
    try Rows.store(
      (1...count).map { try Rows.row($0, ["title": .text("T\($0)"), "budget": .double(Double($0) + 0.5)]) })
  }

  @Test(
    "Invalid or contradictory options are usage errors, and nothing is opened for writing",
    arguments: [
      ["--nonsense"], ["--resume", "--restart"], ["--batch", "0"], ["--batch", "x"],
      ["--on-conflict", "nope"],
      ["--on-error", "nope"], ["--verify", "nope"], ["--progress", "nope"], ["--format", "nope"],
      ["--rejects", "r"],
      ["--max-rejects", "1"], ["--on-error", "reject", "--max-rejects", "-1"], ["--dry-run", "--resume"],
      ["--dry-run", "--restart"], ["--on-error", "reject", "--dry-run", "--rejects", "r"],
      ["--on-error", "reject", "--rejects", "/none/such/r"], ["--report", "/none/such/r.json"],
      ["--report", "/"],
      ["--model", "Movie", "--model", "Movie"], ["--model", "Film"], ["--rename", "Movie"],
      ["--rename", "Film=X"],
      ["--map", "Movie"], ["--map", "Movie.title"], ["--map", "Movie.title=nope"],
      ["--map", "Movie.nope=drop"],
      ["--map", "Film.title=drop"], ["--map", "Movie.id=drop"], ["--map", "Movie.title=as:date"],
      ["--map", "Movie.title=drop", "--map", "Movie.title=name:x"], ["--map", "Movie.title=name:rating"],
      ["extra"],
    ])
  func usage(arguments: [String]) throws {
    for scheme in ToolEngines.ofFiles.map(\.scheme) {
      let run = harness(try movies()).run(["migrate", "held:", "\(scheme):\(folder("new"))"] + arguments)
      #expect(run.code == 3, "\(arguments): \(run)")
      #expect(run.output.isEmpty && run.messages.hasPrefix("Error: "))
      #expect(folder.names.isEmpty)
    }
  }

  @Test("--resume without a store fails and creates none")
  func resumingNothing() throws {
    for scheme in ToolEngines.ofFiles.map(\.scheme) {
      let run = harness(try movies()).run(["migrate", "held:", "\(scheme):\(folder("new"))", "--resume"])
      #expect(run.code == 4, "\(run)")
      #expect(run.messages.contains("missingStore"))
      #expect(folder.names.isEmpty)
    }
  }

  @Test("A plan shows mappings, losses, space and time, and writes nothing")
  func plan() throws {
    let tool = harness(try movies())
    for scheme in ToolEngines.ofFiles.map(\.scheme) {
      let place = "\(scheme):\(folder("new"))"
      let run = tool(
        "migrate", "held:", place, "--dry-run", "--rename", "Movie=Film", "--map", "Movie.budget=as:int64",
        "--map",
        "Movie.rating=drop", "--map", "Movie.title=default:none", "--report", folder("plan.json"))
      #expect(run.code == 1, "\(run)")
      #expect(run.output.contains("Movie → Film: 10 records"))
      #expect(run.output.contains(/\nrating +string\? +\(dropped\)\n/))
      #expect(run.output.contains(/\ntitle +string\? +title +string\n/))
      #expect(
        run.output.contains("! Movie.budget: 10 values would lose digits (such as 1: the fraction of 1.5)"))
      #expect(run.output.contains("a run would stop:\n  10 values would change; --allow-lossy allows it"))
      #expect(run.output.contains(/space +about .* needed, .* free/))
      #expect(folder.names == ["plan.json"])
      let text = try String(contentsOfFile: folder("plan.json"), encoding: .utf8)
      #expect(try JSONParser.parse(text).text("outcome") == "planned")
      let allowed = tool(
        "migrate", "held:", place, "--dry-run", "--map", "Movie.budget=as:int64", "--allow-lossy")
      #expect(allowed.code == 0 && allowed.output.contains("a run would copy everything"))
      let json = tool("migrate", "held:", place, "--dry-run", "--format", "json")
      #expect(json.code == 0)
      #expect(try JSONDecoder().decode(MigrationPlan.self, from: Data(json.output.utf8)).records == 10)
      #expect(folder.names == ["plan.json"])
    }
  }

  @Test("A lossy run stops before it writes; --allow-lossy reports the changes")
  func lossy() throws {
    let tool = harness(try movies())
    let rule = ["--map", "Movie.budget=as:int64"]
    let refused = tool.run(["migrate", "held:", "other:"] + rule)
    #expect(refused.code == 3 && refused.messages.contains("lossyMigration"), "\(refused)")
    #expect(try destination.catalog().isEmpty)
    let run = tool.run(["migrate", "held:", "other:", "--allow-lossy", "--verify", "full"] + rule)
    #expect(run.code == 0, "\(run)")
    #expect(run.output.contains("changed: Movie.budget: 10 values would lose digits"))
    let schema = try destination.schema(of: "Movie", in: "")
    #expect(schema.field(named: "budget") == FieldSchema("budget", .int64, isOptional: true))
    var found: PersistentValue?
    _ = try destination.find(RecordKey([.integer(3)]), in: schema) { found = try $0.value(at: 3) }
    #expect(found == .integer(3))
  }

  @Test(
    "Copies mapped records, rejects the others with reasons, and writes both to the report"
  )
  func mapped() throws {
    let tool = harness(
      try Rows.store(
        (1...20).map { number in
          try Rows.row(
            number, ["title": .text(number == 7 ? "unknown" : "2020-01-\(number < 10 ? "0" : "")\(number)")])
        }))
    let rules = [
      "--rename", "Movie=Film", "--map", "Movie.title=as:date(iso8601)", "--map", "Movie.title=name:shown",
    ]
    let stopped = tool.run(["migrate", "held:", "other:"] + rules)
    #expect(stopped.code == 4 && stopped.messages.contains("encodingFailed"), "\(stopped)")
    let run = tool.run(
      ["migrate", "held:", "other:", "--restart", "--on-error", "reject", "--rejects", folder("r.ndjson")]
        + rules + [
          "--report", folder("report.json"),
        ])
    #expect(run.code == 2, "\(run)")
    #expect(run.output.contains(/\nMovie → Film +20 +19 +0 +1\b/))
    let rejects = try String(contentsOfFile: folder("r.ndjson"), encoding: .utf8).split(separator: "\n")
    #expect(rejects.count == 1)
    let reject = try JSONDecoder().decode(MigrationReject.self, from: Data((rejects.first ?? "").utf8))
    #expect(
      reject.key == RecordKey([.integer(7)]) && reject.position == 6
        && reject.reason.contains("is not a valid date"))
    #expect(reject.record?.contains("\"title\":\"unknown\"") == true, "\(reject)")
    let schema = try destination.schema(of: "Film", in: "")
    #expect(schema.field(named: "shown")?.kind == .date)
    #expect(try destination.count(FetchRequest(schema)) == 19)
    let report = try JSONParser.parse(String(contentsOfFile: folder("report.json"), encoding: .utf8))
    #expect(report.text("outcome") == "done")
    #expect(report.member("report")?.member("models") != nil)
    let many = tool.run(
      ["migrate", "held:", "memory:", "--on-error", "reject", "--max-rejects", "0"] + rules)
    #expect(many.code == 2 && many.messages.contains("tooManyRejects"), "\(many)")
  }

  @Test("An interrupted run prints the command that completes the copy")
  func interrupted() throws {
    let begun = Atomic(0)
    let source = try movies(500)
    var tool = harness(source)
    let destination = destination
    tool.isInterrupted = {
      begun.add(1, ordering: .relaxed)
      return Self.count(in: destination) >= 100
    }
    let run = tool(
      "migrate", "held:", "other:", "--batch", "50", "--model", "Movie", "--map", "Movie.title=name:a b")
    #expect(run.code == 130, "\(run)")
    let command =
      "persistence migrate held: other: --model Movie --batch 50 --map 'Movie.title=name:a b' --resume"
    #expect(run.messages.contains(command), "\(run)")
    #expect(begun.load(ordering: .relaxed) > 0)
    let other = harness(source)("migrate", "held:", "other:", "--resume")
    #expect(other.code == 4 && other.messages.contains("otherMigration"), "\(other)")
    // Commands refuse the incomplete copy.
    for arguments in [
      ["query", "other:", "Movie"], ["export", "other:", "Movie"], ["verify", "held:", "other:"],
      ["migrate", "other:", "memory:"], ["migrate", "other:", "sqlite:\(folder("none"))", "--dry-run"],
      ["import", try folder.file("m.csv", "id,n\n1,2\n"), "other:", "--model", "N", "--key", "id"],
    ] {
      let refused = harness(source).run(arguments)
      #expect(refused.code == 4 && refused.messages.contains("incompleteStore"), "\(arguments): \(refused)")
      #expect(refused.messages.contains("run it again with --resume"), "\(arguments): \(refused)")
    }
    #expect(folder.names == ["m.csv"])
    let inspected = harness(source)("inspect", "other:")
    #expect(inspected.code == 0 && inspected.output.contains("state    incomplete"), "\(inspected)")
    #expect(!inspected.output.contains("persistence.migration"))
    let planned = harness(source)("migrate", "held:", "other:", "--dry-run")
    #expect(planned.code == 1 && planned.output.contains("--resume continues it"), "\(planned)")
    let resumed = harness(source)(
      "migrate", "held:", "other:", "--model", "Movie", "--batch", "50", "--map", "Movie.title=name:a b",
      "--resume")
    #expect(resumed.code == 0 && resumed.output.contains("resumed an earlier run"), "\(resumed)")
    #expect(try destination.count(FetchRequest(destination.schema(of: "Movie", in: ""))) == 500)
  }

  @Test("JSON progress has one event per line, with phase, model, count and total")
  func progress() throws {
    let run = harness(try movies(300))("migrate", "held:", "other:", "--progress", "json", "--batch", "100")
    #expect(run.code == 0)
    let events = try run.messages.split(separator: "\n").map { try JSONParser.parse(String($0)) }
    #expect(!events.isEmpty)
    #expect(
      events.allSatisfy {
        $0.text("event") == "progress" && $0.text("model") == "Movie"
      })
    #expect(
      Set(events.map { $0.text("phase") }).isSuperset(of: ["copying", "verifying"]))
    #expect(events.contains { $0.text("done") == "300" && $0.text("total") == "300" })
  }

  @Test("On a terminal each model has its own bar, which stays")
  func bars() throws {
    let store = try movies(300)
    let extra = try ModelSchema(name: "Extra", fields: [FieldSchema("k", .int64)], key: ["k"])
    try store.transaction { transaction in
      try transaction.define(extra)
      let row = RowBuffer(count: 1)
      row.set([.integer(1)])
      try row.withRow { try transaction.insert($0, in: extra) }
    }
    let text = Mutex("")
    let session = ToolSession(
      output: ByteOutput { _ in },
      messages: ByteOutput(isTerminal: true) { bytes in
        text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
      },
      engines: [ToolHarness.held("held", store)])
    #expect(ToolRunner.run(["migrate", "held:", "memory:"], in: session) == 0)
    let lines = text.withLock { $0 }.split(separator: "\n")
    for model in ["Extra", "Movie"] {
      #expect(lines.contains { $0.contains("copying \(model) [████████████████████████] 100 %") }, "\(lines)")
    }
  }

  @Test("Passwords never appear in output, reports or ledgers")
  func redaction() throws {
    let source = try movies(500)
    var tool = ToolHarness()
    let destination = destination
    func secretive(_ scheme: String, _ store: MemoryContext) -> StorageEngine {
      StorageEngine(scheme: scheme, options: [StoreOption("password", .text, "for tests")], hasFiles: false) {
        _, _, _ in
        HeldContext(store)
      }
    }
    tool.engines = [secretive("one", source), secretive("two", destination)]
    let urls = ["one://me:hunter2@host/db?password=hunter3", "two://me:hunter2@host/db?password=hunter3"]
    tool.isInterrupted = { Self.count(in: destination) >= 100 }
    for arguments in [
      ["migrate"] + urls + ["--batch", "50", "--report", folder("r.json")],
      ["migrate"] + urls + ["--dry-run"],
      ["verify"] + urls, ["inspect", urls[0] + "&nope=1"], ["migrate", urls[0], "nope" + urls[1]],
      // A URL in place of another argument.
      ["inspect"] + urls, [urls[0]], ["export", "one:", "Movie", urls[0]], ["import"] + urls,
      ["inspect", "--url=" + urls[0]], ["query", urls[0], "Movie", "--limit=" + urls[1]],
      ["export", "one:", "Movie", "--schema", urls[0]], ["verify"] + urls + ["--format", urls[0]],
    ] {
      let run = tool.run(arguments)
      #expect(!(run.output + run.messages).contains("hunter"), "\(run)")
    }
    let report = try String(contentsOfFile: folder("r.json"), encoding: .utf8)
    #expect(report.contains("***") && !report.contains("hunter"))
    for schema in try destination.catalog() {
      _ = try destination.fetch(FetchRequest(schema)).read(from: 0, limit: .max) { row in
        for position in 0..<row.count {
          let value = "\(try row.value(at: position))"
          #expect(!value.contains("hunter"))
        }
      }
    }
  }

  @Test("verify --one-way accepts additional records in B, but no missing ones")
  func oneWay() throws {
    let (more, less) = (try movies(12), try movies(10))
    var tool = ToolHarness.holding(less)
    tool.engines.append(ToolHarness.held("other", more))
    #expect(tool("verify", "held:", "other:").code == 1)
    let good = tool("verify", "held:", "other:", "--one-way")
    #expect(good.code == 0 && good.output.hasSuffix("B holds everything that A holds, and more\n"), "\(good)")
    let bad = tool("verify", "other:", "held:", "--one-way")
    #expect(bad.code == 1 && bad.output.hasSuffix("B lacks records that A holds\n"))
    #expect(tool("verify", "held:", "other:", "--format", "json", "--one-way").code == 0)
  }
}

extension JSONValue {
  /// The text of a string, number or Boolean member, or an empty text.
  fileprivate func text(_ name: String) -> String {
    switch member(name) {
    case .string(let text), .number(let text): text
    case .bool(let truth): "\(truth)"
    default: ""
    }
  }
}
