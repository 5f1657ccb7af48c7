import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceMigration
import PersistenceTool
import Testing

@Suite("persistence export, and import of its files")
struct ExportCommandTests {
  @Test("V2, V5 Import restores an export exactly", arguments: ["m.ndjson", "m.csv"])
  func identity(name: String) throws {
    let folder = try TemporaryFolder()
    let source = try Rows.store(Rows.hard())
    let exported = ToolHarness.holding(source)("export", "held:", "Movie", folder(name))
    #expect(exported.code == 0, "\(exported)")
    #expect(folder.names == [name, name + ".schema.json"])
    let destination = MemoryContext()
    let imported = ToolHarness.holding(destination)("import", folder(name), "held:")
    #expect(imported.code == 0, "\(imported)")
    let report = try StoreComparison(source, destination).run()
    #expect(report.isEqual, "\(report)")
  }

  @Test("Import restores a simple model without a schema file")
  func identityInferred() throws {
    let folder = try TemporaryFolder()
    let schema = try ModelSchema(
      name: "P",
      fields: [
        FieldSchema("id", .uuid), FieldSchema("n", .int64), FieldSchema("d", .double),
        FieldSchema("t", .string, isOptional: true),
        FieldSchema("b", .bool), FieldSchema("when", .date), FieldSchema("doc", .document),
      ], key: ["id"])
    var rows: [[PersistentValue]] = []
    for number in 0..<20 {
      let text: PersistentValue = number == 3 ? .null : .text("t,\(number)")
      rows.append([
        .uuid(UUID()), .integer(Int64(number) << 50), .double(Double(number)), text, .bool(number % 2 == 0),
        .date(Double(number) * 1e7 + 0.25), .document("[\(number)]"),
      ])
    }
    let source = try Rows.store(rows, schema)
    #expect(ToolHarness.holding(source)("export", "held:", "P", folder("p.ndjson"), "--no-schema").code == 0)
    #expect(folder.names == ["p.ndjson"])
    let destination = MemoryContext()
    let run = ToolHarness.holding(destination)(
      "import", folder("p.ndjson"), "held:", "--model", "P", "--key", "id")
    #expect(run.code == 0, "\(run)")
    #expect(try StoreComparison(source, destination).run().isEqual)
  }

  @Test("Standard output contains only the records")
  func standardOutput() throws {
    let tool = ToolHarness.holding(try Rows.store([Rows.row(1, ["title": .text("a")]), Rows.row(2, [:])]))
    let run = tool("export", "held:", "Movie")
    #expect(run.code == 0)
    #expect(run.messages.isEmpty)
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].hasPrefix("{\"id\":1,\"title\":\"a\",\"rating\":null,"))
    let csv = tool("export", "held:", "Movie", "--format", "csv")
    #expect(csv.output.hasPrefix("id,title,rating,"))
    #expect(csv.output.contains("\r\n1,a,,"))
  }

  @Test(
    "A file that exists is kept unless it is to be replaced; unknown extensions and models are usage errors")
  func files() throws {
    let folder = try TemporaryFolder()
    let tool = ToolHarness.holding(try Rows.store([Rows.row(1, [:])]))
    let file = try folder.file("m.csv", "mine")
    #expect(tool("export", "held:", "Movie", file).code == 3)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    #expect(tool("export", "held:", "Movie", file, "--force").code == 0)
    #expect(tool("export", "held:", "Movie", folder("m.xml")).code == 3)
    #expect(tool("export", "held:", "Film", folder("n.csv")).code == 3)
    #expect(tool("export", "held:", "Movie", folder("none/m.csv")).code == 3)
    #expect(tool("export", "held:", "Movie", "--schema", "x", "--no-schema").code == 3)
    #expect(folder.names == ["m.csv", "m.csv.schema.json"])
  }

  @Test(
    "A schema that exists is kept unless it is to be replaced, and none is left beside a file it is not of")
  func schemaFiles() throws {
    let folder = try TemporaryFolder()
    let tool = ToolHarness.holding(try Rows.store([Rows.row(1, [:])]))
    func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
    let mine = try folder.file("mine.json", "mine")
    let beside = try folder.file("new.csv.schema.json", "mine")
    for options in [
      [folder("new.csv")], [folder("new.csv"), "--no-schema"],
      [folder("new.csv"), "--schema", folder("s.json")],
      [folder("other.csv"), "--schema", mine], ["--schema", mine],
    ] {
      let run = tool.run(["export", "held:", "Movie"] + options)
      #expect(
        run.code == 3 && run.messages.contains("exists; add --force to replace it"), "\(options): \(run)")
      #expect(run.output.isEmpty)
    }
    #expect(try text(mine) == "mine" && text(beside) == "mine")
    #expect(folder.names == ["mine.json", "new.csv.schema.json"])
    #expect(tool("export", "held:", "Movie", folder("new.csv"), "--schema", mine, "--force").code == 0)
    #expect(try text(mine).contains("Movie"))
    #expect(folder.names == ["mine.json", "new.csv"])
    #expect(tool("export", "held:", "Movie", folder("new.csv"), "--schema", beside, "--force").code == 0)
    #expect(folder.names == ["mine.json", "new.csv", "new.csv.schema.json"])
    #expect(tool("export", "held:", "Movie", folder("new.csv"), "--force").code == 0)
    #expect(try text(beside).contains("Movie"))
    #expect(tool("export", "held:", "Movie", folder("new.csv"), "--no-schema", "--force").code == 0)
    #expect(folder.names == ["mine.json", "new.csv"])
  }

  @Test("A replaced file and its schema keep their permissions")
  func permissions() throws {
    let folder = try TemporaryFolder()
    let tool = ToolHarness.holding(try Rows.store([Rows.row(1, [:])]))
    let files = try [
      (folder.file("m.csv", "mine"), 0o600), (folder.file("m.csv.schema.json", "mine"), 0o660),
    ]
    for (file, mode) in files { #expect(chmod(file, mode_t(mode)) == 0) }
    #expect(tool("export", "held:", "Movie", folder("m.csv"), "--force").code == 0)
    for (file, mode) in files {
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(file)")
      #expect(try String(contentsOfFile: file, encoding: .utf8) != "mine")
    }
  }

  @Test("Refuses an invalid schema, or one that contradicts the command line")
  func schemas() throws {
    let folder = try TemporaryFolder()
    let tool = ToolHarness.holding(try Rows.store([Rows.row(1, [:])]))
    #expect(tool("export", "held:", "Movie", folder("m.csv")).code == 0)
    let destination = ToolHarness.holding(MemoryContext())
    #expect(destination("import", folder("m.csv"), "held:", "--model", "Film").code == 3)
    #expect(destination("import", folder("m.csv"), "held:", "--key", "title").code == 3)
    #expect(destination("import", folder("m.csv"), "held:", "--kind", "title=string").code == 3)
    let broken = try folder.file("s.json", "{}")
    #expect(destination("import", folder("m.csv"), "held:", "--schema", broken).code == 4)
    #expect(
      destination("import", folder("m.csv"), "held:", "--infer", "--model", "Film", "--key", "id").code == 0)
  }
}
