import Foundation
import PersistenceDriver
import Synchronization
import Testing

@testable import PersistenceTool
import PersistenceDriverSupport
import PersistencePrimitives

@Suite("persistence import")
struct ImportCommandTests {
  private let folder: TemporaryFolder
  private let store = MemoryContext()
  private let tool: ToolHarness

  init() throws {
    folder = try TemporaryFolder()
    tool = .holding(store)
  }

  private func values(_ model: String, _ field: String) throws -> [PersistentValue] {
    let schema = try store.schema(of: model, in: "")
    let position = try #require(schema.position(of: field))
    var values: [PersistentValue] = []
    _ = try store.fetch(FetchRequest(schema)).read(from: 0, limit: .max) {
      values.append(try $0.value(at: position))
    }
    return values
  }

  @Test("JSON array: generates keys in file order, infers and reports kinds")
  func array() throws {
    let file = try folder.file(
      "m.json", "[{\"t\": \"b\", \"n\": 1}, {\"t\": \"a\", \"n\": 2.5, \"x\": null}, {\"n\": 3}]")
    let run = tool("import", file, "held:", "--model", "M", "--key", "generate")
    #expect(run.code == 0, "\(run)")
    #expect(try values("M", "id") == [.integer(1), .integer(2), .integer(3)])
    #expect(try values("M", "t") == [.text("b"), .text("a"), .null])
    #expect(try values("M", "n") == [.double(1), .double(2.5), .double(3)])
    #expect(try values("M", "x") == [.null, .null, .null])
    #expect(run.output.contains("3 records read, 3 stored as M, 0 rejected"))
    #expect(run.output.contains("integer to double: 2"))
    // A second import continues with the next key.
    #expect(tool("import", file, "held:", "--model", "M", "--key", "generate").code == 0)
    #expect(try values("M", "id").last == .integer(6))
  }

  @Test("NDJSON: rejects an invalid line with its number, imports the others, and exits with 2")
  func lines() throws {
    let file = try folder.file(
      "m.ndjson",
      """
      {"id": 1, "n": 9007199254740993}

      {"id": 2, "n":
      [3]
      {"id": "four", "n": 4}
      {"id": null, "n": 5}
      {"n": 6}
      {"id": 1, "n": 7}
      {"id": 8, "n": 8}
      {"id": 9, "id": 9}
      """ + (10..<30).map { "\n{\"id\": \($0), \"n\": \($0)}" }.joined())
    let run = tool("import", file, "held:", "--model", "M", "--key", "id", "--rejects", folder("r.ndjson"))
    #expect(run.code == 2, "\(run)")
    #expect(try values("M", "id").prefix(2) == [.integer(1), .integer(8)])
    #expect(try values("M", "n").first == .integer(9_007_199_254_740_993))
    #expect(run.output.contains("29 records read, 22 stored as M, 7 rejected"))
    for (line, reason) in [
      (3, "ends where a value"), (4, "an array"), (5, "“id” is \"four\""), (6, "“id” is null"),
      (7, "“id” is missing"),
      (8, "(key 1): a M with this key exists"), (10, "occurs twice"),
    ] {
      let found = run.messages.split(separator: "\n").first { $0.contains("line \(line)") }
      #expect(found?.contains(reason) ?? false, "line \(line): \(found ?? "nothing")")
    }
    let rejects = try String(contentsOfFile: folder("r.ndjson"), encoding: .utf8)
    #expect(rejects.split(separator: "\n").count == 7)
  }

  @Test("CSV: an empty field is null, quotation marks are empty text, the header sets the field count")
  func csv() throws {
    let file = try folder.file(
      "m.csv", "id,t,n\r\n1,\"a\r\nb\",5\r\n2,\"\",\r\n3,,6\r\n4,x\r\n\r\n5,\"y\"z,1\r\n")
    let run = tool("import", file, "held:", "--model", "M", "--key", "id")
    #expect(run.code == 2, "\(run)")
    #expect(try values("M", "t") == [.text("a\r\nb"), .text(""), .null])
    #expect(try values("M", "n") == [.integer(5), .null, .integer(6)])
    #expect(run.messages.contains("line 6: it has 2 fields, the header 3"))
    #expect(run.messages.contains("line 8: field 2"))
  }

  @Test("Reads values over several lines, a byte-order mark, a single object, and no records")
  func layouts() throws {
    let pretty = try folder.file("p.json", "\u{FEFF}{\n \"id\": 1\n}\n{\n \"id\": 2\n}\n")
    #expect(tool("import", pretty, "held:", "--model", "A", "--key", "id").code == 0)
    #expect(try values("A", "id").count == 2)
    let empty = try folder.file("e.json", "[]")
    let run = tool("import", empty, "held:", "--model", "B", "--key", "id")
    #expect(run.code == 4 && run.messages.contains("has no records"))
  }

  @Test("A file that is unreadable to its end imports nothing")
  func broken() throws {
    for (name, content) in [
      ("a.json", "[{\"id\": 1}, {\"id\": 2}"), ("b.json", "[{\"id\": 1} {\"id\": 2}]"),
      ("c.json", "[{\"id\": 01}]"),
      ("d.csv", "id,t\n1,\"x"), ("e.csv", "id,id\n1,2"), ("f.json", "[{\"id\": 1}] x"),
    ] {
      let run = tool("import", try folder.file(name, content), "held:", "--model", "M", "--key", "id")
      #expect(run.code == 4, "\(name): \(run)")
    }
    #expect(try store.catalog().isEmpty)
  }

  @Test("Keys of text, UUID and several fields; explicit kinds; indexes")
  func keys() throws {
    let file = try folder.file(
      "m.json", "[{\"a\": \"x\", \"b\": 1, \"d\": \"1.50\"}, {\"a\": \"x\", \"b\": 2, \"d\": \"2\"}]")
    let run = tool(
      "import", file, "held:", "--model", "M", "--key", "a", "--key", "b", "--kind", "d=decimal?", "--index",
      "d", "--unique", "b")
    #expect(run.code == 0, "\(run)")
    let schema = try store.schema(of: "M", in: "")
    #expect(schema.key == ["a", "b"])
    #expect(schema.field(named: "d") == FieldSchema("d", .decimal, isOptional: true))
    #expect(schema.indexes == [IndexSchema(["d"]), IndexSchema(["b"], isUnique: true)])
  }

  @Test("W4 A unique index rejects the second record and names its position")
  func unique() throws {
    let file = try folder.file("m.json", "[{\"a\": 1}, {\"a\": 1}, {\"a\": 2}]")
    let run = tool("import", file, "held:", "--model", "M", "--key", "generate", "--unique", "a")
    #expect(run.code == 2)
    #expect(run.messages.contains("element 2 (key 2): another M has the unique value 1"))
    #expect(try values("M", "id") == [.integer(1), .integer(3)])
  }

  @Test("Records after the maximum generated key are rejected")
  func maximumKey() throws {
    let given = try folder.file("g.json", "[{\"id\": 9223372036854775805, \"t\": \"a\"}]")
    #expect(tool("import", given, "held:", "--model", "M", "--key", "id").code == 0)
    let file = try folder.file("m.json", "[{\"t\": \"b\"}, {\"t\": \"c\"}, {\"t\": \"d\"}]")
    let run = tool("import", file, "held:", "--model", "M", "--key", "generate")
    #expect(run.code == 2 && run.messages.contains("element 3: the maximum key is in use"), "\(run)")
    #expect(try values("M", "id") == [.integer(.max - 2), .integer(.max - 1), .integer(.max)])
    let none = tool("import", file, "held:", "--model", "M", "--key", "generate")
    #expect(none.code == 3 && none.messages.contains("the maximum key is in use"), "\(none)")
  }

  @Test("A generated key has an unused name")
  func generatedName() throws {
    let file = try folder.file("m.json", "[{\"id\": \"a\"}]")
    #expect(tool("import", file, "held:", "--model", "M", "--key", "generate").code == 0)
    #expect(try store.schema(of: "M", in: "").key == ["key"])
  }

  @Test("Invalid command lines are usage errors, and nothing is opened")
  func usage() throws {
    let file = try folder.file("m.json", "[{\"a\": 1.5, \"t\": \"x\"}]")
    for arguments in [
      ["--model", "M"], ["--key", "generate"], ["--model", "M", "--key", "b"],
      ["--model", "M", "--key", "a"],
      ["--model", "M", "--key", "t", "--kind", "a"], ["--model", "M", "--key", "t", "--kind", "a=strings"],
      ["--model", "M", "--key", "t", "--kind", "b=string"], ["--model", "M", "--key", "t", "--index", "b"],
      ["--model", "M", "--key", "t", "--batch", "0"], ["--model", "M", "--key", "t", "--key", "generate"],
      ["--model", "M", "--key", "t", "--schema", "x", "--infer"],
      ["--model", "M", "--key", "t", "--unknown"],
    ] {
      let run = tool.run(["import", file, "held:"] + arguments)
      #expect(run.code == 3, "\(arguments): \(run)")
      #expect(run.output.isEmpty)
    }
    #expect(tool("import", folder("none.json"), "held:", "--model", "M", "--key", "t").code == 4)
    #expect(tool("import", file, "held:?mode=c", "--model", "M", "--key", "t").code == 3)
    #expect(tool("import", file, "nope:", "--model", "M", "--key", "t").code == 3)
    #expect(try store.catalog().isEmpty)
  }

  @Test("V5 Rejects an integer that a given kind, or the kind in the store, would change")
  func inexact() throws {
    let file = try folder.file("m.json", "[{\"id\": 1, \"n\": 9007199254740993}, {\"id\": 2, \"n\": 5}]")
    let first = tool("import", file, "held:", "--model", "M", "--key", "id", "--kind", "n=double")
    #expect(first.code == 2 && first.messages.contains("which a double cannot hold exactly"), "\(first)")
    #expect(try values("M", "n") == [.double(5)])
    let second = try folder.file("n.csv", "id,n\n3,9007199254740993\n4,6\n")
    let run = tool("import", second, "held:", "--model", "M")
    #expect(run.code == 2 && run.messages.contains("which a double cannot hold exactly"), "\(run)")
    #expect(try values("M", "n") == [.double(5), .double(6)])
  }

  @Test("Uses the schema of a store without files, and creates no store to look for one")
  func server() throws {
    let created = Atomic(0)
    let store = store
    var tool = ToolHarness()
    tool.engines.append(
      StorageEngine(
        scheme: "server", options: [StoreOption("readonly", .flag, "for tests")], hasFiles: false
      ) { _, options, _ in
        if try store.catalog().isEmpty {
          guard options["readonly"] != "true" else {
            throw PersistenceError(.missingStore, "there is no store", location: "server:")
          }
          created.add(1, ordering: .relaxed)
        }
        return HeldContext(store)
      })
    let file = try folder.file("m.csv", "id,n\n1,2\n")
    let asked = tool("import", file, "server:///movies", "--model", "M")
    #expect(asked.code == 3 && asked.messages.contains("the key is missing"), "\(asked)")
    #expect(created.load(ordering: .relaxed) == 0)
    let run = tool(
      "import", file, "server:///movies", "--model", "M", "--key", "id", "--kind", "n=decimal")
    #expect(run.code == 0, "\(run)")
    #expect(created.load(ordering: .relaxed) == 1)
    // Without the stored schema, n would be an integer.
    let more = tool("import", try folder.file("n.csv", "id,n\n2,3\n"), "server:///movies", "--model", "M")
    #expect(more.code == 0, "\(more)")
    #expect(try values("M", "n") == [.decimal(2), .decimal(3)])
  }

  @Test("An interrupt keeps whole batches, prints the count, and exits with 130")
  func interrupted() throws {
    let file = try folder.file("m.ndjson", (0..<100).map { "{\"id\": \($0)}\n" }.joined())
    var tool = tool
    let store = store
    tool.isInterrupted = { ((try? store.catalog().count) ?? 0) > 0 }
    let run = tool("import", file, "held:", "--model", "M", "--key", "id", "--batch", "10")
    #expect(run.code == 130, "\(run)")
    #expect(run.messages.contains("10 records were stored"))
    #expect(try values("M", "id").count == 10)
  }

  @Test("An interrupt takes effect even if every record is rejected and no batch fills")
  func interruptedRejects() throws {
    let file = try folder.file("m.ndjson", (0..<2000).map { _ in "{\"id\": 1, \"x\": 2}\n" }.joined())
    let schema = try folder.file(
      "s.json", try JSONReport.text(ModelSchema(name: "M", fields: [FieldSchema("id", .int64)], key: ["id"]))
    )
    var tool = tool
    let store = store
    tool.isInterrupted = { ((try? store.catalog().count) ?? 0) > 0 }
    let run = tool("import", file, "held:", "--schema", schema, "--rejects", folder("r.ndjson"))
    #expect(run.code == 130, "\(run)")
    #expect(run.messages.contains("0 records were stored"))
    let rejects = try String(contentsOfFile: folder("r.ndjson"), encoding: .utf8)
    #expect(rejects.split(separator: "\n").count == 256)
  }

  @Test("The error for an unknown extension names the option that sets the format")
  func fileFormat() throws {
    let file = try folder.file("data.txt", "id,n\n1,2\n")
    let asked = tool("import", file, "held:", "--model", "M", "--key", "id")
    #expect(asked.code == 3 && asked.messages.contains("--file-format json, ndjson, csv or tsv"), "\(asked)")
    let run = tool("import", file, "held:", "--model", "M", "--key", "id", "--file-format", "csv")
    #expect(run.code == 0, "\(run)")
    #expect(try values("M", "n") == [.integer(2)])
  }

  @Test("Names may start with a minus")
  func minus() throws {
    let file = try folder.file("m.csv", "-id,-n\n1,2\n")
    let run = tool(
      "import", file, "held:", "--model", "-M", "--key", "-id", "--kind", "-n=string", "--index", "-n",
      "--unique", "-id")
    #expect(run.code == 0, "\(run)")
    let schema = try store.schema(of: "-M", in: "")
    #expect(schema.indexes == [IndexSchema(["-n"]), IndexSchema(["-id"], isUnique: true)])
    #expect(try values("-M", "-n") == [.text("2")])
  }

  @Test("Prints the report as JSON")
  func report() throws {
    let file = try folder.file(
      "m.json", "[{\"id\": 1, \"t\": 5}, {\"id\": 2, \"t\": \"x\"}, {\"id\": 2, \"t\": \"y\"}]")
    let run = tool("import", file, "held:", "--model", "M", "--key", "id", "--format", "json")
    #expect(run.code == 2)
    let report = try JSONParser.parse(run.output)
    guard case .number("3")? = report.member("read"), case .number("1")? = report.member("rejected") else {
      Issue.record("\(run.output)")
      return
    }
  }
}
