import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceTool
import Testing

@Suite("Schema commands")
struct SchemaCommandTests {
  let folder: TemporaryFolder
  let tool = ToolHarness()

  init() throws { folder = try TemporaryFolder() }

  func url(_ scheme: String) -> String { "\(scheme):\(folder("store"))" }

  static let first = SchemaDocument(
    models: [
      .init(
        name: "Movie",
        fields: [
          .init(schema: FieldSchema("id", .int64)), .init(schema: FieldSchema("cost", .double)),
          .init(schema: FieldSchema("nick", .string, isOptional: true)),
        ], key: ["id"]),
      .init(name: "Draft", fields: [.init(schema: FieldSchema("id", .int64))], key: ["id"]),
    ])

  private static let film = SchemaDocument.Model(
    name: "Film", formerNames: ["Movie"],
    fields: [
      .init(schema: FieldSchema("id", .int64)),
      .init(schema: FieldSchema("budget", .double), formerNames: ["cost"]),
      .init(schema: FieldSchema("rating", .string), fill: .text("PG")),
    ], key: ["id"], removedFields: [.init(name: "nick")])

  static let second = SchemaDocument(models: [film], removedModels: [.init(name: "Draft")])

  func file(_ name: String, _ document: SchemaDocument) throws -> String {
    try folder.file(name, document.text)
  }

  /// Makes a store of the first schema, with records.
  func makeStore(_ scheme: String) throws -> String {
    let url = url(scheme)
    let store = try #require(
      try StorageEngine.open(url, engines: ToolEngines.ofFiles, monitoring: Monitoring()).asStorageContext)
    try store.transaction { transaction in
      for model in Self.first.models {
        let schema = try model.declaration.schema
        try transaction.define(schema)
        let row = RowBuffer(count: schema.fields.count)
        for number in 1...3 {
          let values: [PersistentValue] = [
            .integer(Int64(number)), .double(Double(number)), number == 2 ? .null : .text("n\(number)"),
          ]
          row.set(Array(values.prefix(schema.fields.count)))
          try row.withRow { try transaction.insert($0, in: schema) }
        }
      }
    }
    try store.close()
    return url
  }

  @Test("L1 check and apply show references that begin and end", arguments: ToolEngines.ofFiles.map(\.scheme))
  func references(scheme: String) throws {
    let url = try makeStore(scheme)
    var (begins, ends) = (Self.first, Self.first)
    begins.models[0].fields[0].reference = .init(target: "Movie", rule: .cascade)
    ends.models[0].fields[0].endsReference = true
    #expect(begins.models[0].name == "Draft")
    let (beginning, ending) = (try file("begins.json", begins), try file("ends.json", ends))
    let begun =
      "* Draft: changes only the catalog\n    + id refers to Movie (cascade); all records are checked\n= Movie: same\n"
    #expect(tool("schema", "check", beginning, url).output == begun)
    #expect(tool("schema", "apply", beginning, url).output == begun)
    #expect(tool("schema", "check", beginning, url).output == "= Draft: same\n= Movie: same\n")
    #expect(tool("schema", "show", url).output.contains("refers to Movie (cascade)"))
    #expect(tool("schema", "diff", url, beginning).code == 0)
    let difference = tool("schema", "diff", url, try file("first.json", Self.first))
    #expect(
      difference.output.contains("Draft.id: int64, refers to Movie (cascade) → id: int64"), "\(difference)")
    #expect(
      tool("schema", "apply", ending, url).output
        == "* Draft: changes only the catalog\n    - id refers to Movie\n= Movie: same\n")
    #expect(tool("schema", "check", beginning, url).output == begun)
    #expect(!tool("inspect", url).output.contains("Movie (cascade)"))
  }

  @Test(
    "L1 check refuses a target that was renamed without a word, as the opening does",
    arguments: ToolEngines.ofFiles.map(\.scheme))
  func renamedTarget(scheme: String) throws {
    let url = try makeStore(scheme)
    var related = Self.first
    related.models[0].fields[0].reference = .init(target: "Movie", rule: .cascade)
    #expect(tool("schema", "apply", try file("related.json", related), url).code == 0)
    related.models[0].fields[0].reference?.target = "Film"
    related.models[1].name = "Film"
    let unsaid = tool("schema", "check", try file("unsaid.json", related), url)
    #expect(unsaid.code == 1)
    #expect(unsaid.output.contains("! Draft: refused"), "\(unsaid)")
    #expect(unsaid.output.contains("@Persistent(\"Film\", was: \"Movie\")"), "\(unsaid)")
    related.models[1].formerNames = ["Movie"]
    let said = tool("schema", "check", try file("said.json", related), url)
    #expect(said.code == 0, "\(said)")
    #expect(!said.output.contains("all records are checked"), "\(said)")
    #expect(tool("schema", "apply", try file("said.json", related), url).code == 0)
    // An earlier version uses the store as before.
    let earlier = tool("schema", "check", folder("related.json"), url)
    #expect(earlier.code == 0 && !earlier.output.contains("refers to"), "\(earlier)")
  }

  @Test(
    "check shows a stored field that a new one may have renamed without a word",
    arguments: ToolEngines.ofFiles.map(\.scheme))
  func undeclared(scheme: String) throws {
    let url = try makeStore(scheme)
    var renamed = Self.first
    renamed.models[1].fields[2].schema = FieldSchema("nickname", .string, isOptional: true)
    let check = tool("schema", "check", try file("renamed.json", renamed), url)
    #expect(check.code == 0)
    #expect(check.output.contains("+ nickname: string?, fill nil"), "\(check)")
    #expect(check.output.contains("? nick: string?: kept, and not declared"), "\(check)")
  }

  @Test(
    "S8 check and apply show a field and a model that rules restore",
    arguments: ToolEngines.ofFiles.map(\.scheme))
  func restored(scheme: String) throws {
    let url = try makeStore(scheme)
    #expect(tool("schema", "apply", try file("second.json", Self.second), url).code == 0)
    var film = Self.film
    film.removedFields = []
    film.fields.append(.init(schema: FieldSchema("nick", .string, isOptional: true)))
    let draft = Self.first.models[0]
    let redeclared = try file("redeclared.json", SchemaDocument(models: [draft, film]))
    let refused = tool("schema", "check", redeclared, url)
    #expect(refused.code == 1)
    #expect(refused.output.contains(".restore(\"nick\", from: \"Film\")"), "\(refused)")
    #expect(refused.output.contains(".restore(model: \"Draft\")"), "\(refused)")
    film.restoredFields = ["nick"]
    var restored = draft
    restored.isRestored = true
    let rules = try file("restored.json", SchemaDocument(models: [restored, film]))
    let shown = tool("schema", "check", rules, url)
    #expect(shown.code == 0, "\(shown)")
    for line in ["+ Draft, shown again", "+ nick: string?, shown again"] {
      #expect(shown.output.contains(line), "\(shown)")
    }
    #expect(tool("schema", "apply", rules, url).output == shown.output)
    #expect(
      tool("query", url, "Film", "--fields", "id,nick", "--format", "csv").output
        == "id,nick\r\n1,n1\r\n2,\r\n3,n3\r\n")
    #expect(tool("query", url, "Draft", "--format", "csv").output == "id\r\n1\r\n2\r\n3\r\n")
  }

  @Test(
    "migrate copies what a changed store shows, and into a changed store",
    arguments: ToolEngines.ofFiles.map(\.scheme))
  func migration(scheme: String) throws {
    let url = try makeStore(scheme)
    #expect(tool("schema", "apply", try file("second.json", Self.second), url).code == 0)
    let copy = "json:\(folder("copy"))"
    #expect(tool("migrate", url, copy).code == 0)
    #expect(
      tool("query", copy, "Film", "--fields", "id,budget,rating", "--format", "csv").output
        == "id,budget,rating\r\n1,1.0,PG\r\n2,2.0,PG\r\n3,3.0,PG\r\n")
    #expect(!tool("schema", "show", copy).output.contains("removed"))
    let back = tool("migrate", copy, url, "--on-conflict", "replace")
    #expect(back.code == 0, "\(back)")
    #expect(tool("schema", "show", url).output.contains("\nremoved Film.nick: 2 values\n"))
  }

  @Test(
    "check and apply print the changes; show lists what was removed",
    arguments: ToolEngines.ofFiles.map(\.scheme)
  )
  func evolution(scheme: String) throws {
    let url = try makeStore(scheme)
    let (first, second) = (try file("first.json", Self.first), try file("second.json", Self.second))
    let changes = """
      * Film: changes only the catalog
          * Movie → Film
          * cost: double → budget: double
          - nick: string?, hidden until it is erased
          + rating: string, fill 'PG'
      - Draft: removed, hidden until it is erased

      """
    for arguments in [["check", second, url], ["apply", second, url, "--dry-run"]] {
      let run = tool.run(["schema"] + arguments)
      #expect(run.code == 0, "\(arguments): \(run)")
      #expect(run.output == changes, "\(arguments): \(run)")
    }
    #expect(tool("schema", "check", first, url).output == "= Draft: same\n= Movie: same\n")

    let apply = tool("schema", "apply", second, url)
    #expect(apply.code == 0, "\(apply)")
    #expect(apply.output == changes)
    let again = tool("schema", "apply", second, url)
    #expect(again.code == 0, "\(again)")
    #expect(again.output == "= Film: used as it is\n", "\(again)")
    let older = tool("schema", "check", first, url)
    #expect(older.code == 1, "\(older)")
    #expect(older.output.contains("! Movie: refused\n    a newer version of the app"), "\(older)")

    let show = tool("schema", "show", url)
    #expect(show.code == 0, "\(show)")
    #expect(show.output.contains("\nFilm, formerly Movie\n"), "\(show)")
    #expect(show.output.contains(/\nid +int64 +key\n/), "\(show)")
    #expect(show.output.contains(/\nbudget +double +formerly cost\n/), "\(show)")
    #expect(show.output.contains(/\nrating +string +fill 'PG'\n/), "\(show)")
    #expect(show.output.contains("\nremoved Film.nick: 2 values\n"), "\(show)")
    #expect(show.output.contains("\nremoved model Draft: 3 records\n"), "\(show)")
    let json = tool("schema", "show", url, "--format", "json")
    #expect(json.code == 0, "\(json)")
    #expect(json.output.contains("\"field\" : \"nick\""), "\(json)")
    #expect(
      tool("query", url, "Film", "--fields", "id,budget,rating", "--format", "csv").output
        == "id,budget,rating\r\n1,1.0,PG\r\n2,2.0,PG\r\n3,3.0,PG\r\n")
  }

  @Test(
    "restore shows removed values again; compact erases only what it names",
    arguments: ToolEngines.ofFiles.map(\.scheme))
  func removed(scheme: String) throws {
    let url = try makeStore(scheme)
    let second = try file("second.json", Self.second)
    #expect(tool("schema", "apply", second, url).code == 0)
    for (name, output) in [("Film.nick", "Film.nick: 2 values"), ("Draft", "Draft: 3 records")] {
      let run = tool("schema", "restore", url, name)
      #expect(run.code == 0, "\(run)")
      #expect(run.output == "restored \(output)\n")
      #expect(tool("schema", "restore", url, name).code == 3)
    }
    #expect(
      tool("query", url, "Film", "--fields", "id,nick", "--format", "csv").output
        == "id,nick\r\n1,n1\r\n2,\r\n3,n3\r\n")
    #expect(tool("query", url, "Draft").messages == "3 records\n")
    #expect(tool("schema", "compact", url).output == "the store contains nothing removed\n")

    #expect(tool("schema", "apply", second, url).code == 0)
    let refusal = tool("schema", "compact", url)
    #expect(refusal.code == 3)
    #expect(refusal.messages.contains("Film.nick: 2 values; Draft: 3 records"), "\(refusal)")
    let unknown = tool("schema", "compact", url, "--erase", "Film.nick", "--erase", "Film.rating")
    #expect(unknown.code == 3)
    #expect(unknown.messages.contains("it contains “Film.nick”, “Draft”"), "\(unknown)")
    let erased = tool("schema", "compact", url, "--erase", "Film.nick", "--erase", "Draft")
    #expect(erased.code == 0, "\(erased)")
    #expect(erased.output == "erased Film.nick: 2 values\nerased Draft: 3 records\n")
    #expect(tool("schema", "compact", url).code == 0)
    #expect(!tool("schema", "show", url).output.contains("removed"))
    #expect(tool("schema", "check", second, url).output == "= Film: same\n")
    #expect(
      tool("query", url, "Film", "--fields", "id,budget,rating", "--format", "csv").output
        == "id,budget,rating\r\n1,1.0,PG\r\n2,2.0,PG\r\n3,3.0,PG\r\n")
  }

  @Test("migrate, export and import see no removed field", arguments: ToolEngines.ofFiles.map(\.scheme))
  func visible(scheme: String) throws {
    let url = try makeStore(scheme)
    #expect(tool("schema", "apply", try file("second.json", Self.second), url).code == 0)
    let copy = "json:\(folder("copy"))"
    let migration = tool("migrate", url, copy, "--verify", "full")
    #expect(migration.code == 0, "\(migration)")
    #expect(!tool("inspect", copy).output.contains("nick"))
    let export = tool("export", url, "Film", "--format", "csv")
    #expect(export.output == "id,budget,rating\r\n1,1.0,PG\r\n2,2.0,PG\r\n3,3.0,PG\r\n", "\(export)")
    let films = try folder.file("films.csv", "id,budget,rating\r\n4,40,R\r\n5,50,R\r\n")
    let added = tool("import", films, url, "--model", "Film")
    #expect(added.code == 0, "\(added)")
    let found = tool(
      "query", url, "Film", "--where", "rating = 'R'", "--fields", "id,budget", "--format", "csv")
    #expect(found.output == "id,budget\r\n4,40.0\r\n5,50.0\r\n", "\(found)")
    #expect(tool("schema", "restore", url, "Film.nick").code == 0)
    let nicks = tool("query", url, "Film", "--fields", "id,nick", "--format", "csv")
    #expect(nicks.output == "id,nick\r\n1,n1\r\n2,\r\n3,n3\r\n4,\r\n5,\r\n", "\(nicks)")
  }

  @Test("diff compares files and stores", arguments: ToolEngines.ofFiles.map(\.scheme))
  func diff(scheme: String) throws {
    let url = try makeStore(scheme)
    let (first, second) = (try file("first.json", Self.first), try file("second.json", Self.second))
    let run = tool("schema", "diff", first, second)
    #expect(run.code == 1)
    #expect(
      run.output == """
        - Draft(id: int64 key)
        * Movie → Film
        * Film.cost: double → budget: double
        - Film.nick: string?
        + Film.rating: string, fill 'PG'

        """)
    #expect(tool("schema", "diff", url, second).output == run.output)
    let equal = tool("schema", "diff", first, url)
    #expect(equal.code == 0, "\(equal)")
    #expect(equal.output == "the schemas are equal\n")
    #expect(tool("schema", "apply", second, url).code == 0)
    let applied = tool("schema", "diff", url, second)
    #expect(applied.code == 0, "\(applied)")
  }

  @Test(
    "A schema that the store cannot get is refused, and nothing changes",
    arguments: ToolEngines.ofFiles.map(\.scheme))
  func refused(scheme: String) throws {
    let url = try makeStore(scheme)
    var film = Self.film
    film.fields[2].fill = nil
    let incomplete = try file("incomplete.json", SchemaDocument(models: [film]))
    film.computations = [.init(fields: ["rating"], from: ["nick"])]
    let computed = try file("computed.json", SchemaDocument(models: [film]))
    let before = tool("schema", "show", url).output

    let check = tool("schema", "check", incomplete, url)
    #expect(check.code == 1)
    #expect(check.output.contains("! Film: refused\n    rating: string: not in the store"), "\(check)")
    #expect(tool("schema", "apply", incomplete, url).code == 1)
    let code = tool("schema", "check", computed, url)
    #expect(code.code == 0, "\(code)")
    #expect(code.output.contains("* Film: rewrites all records"), "\(code)")
    #expect(code.output.contains("+ rating: string, computed by the app"), "\(code)")
    let apply = tool("schema", "apply", computed, url)
    #expect(apply.code == 1)
    #expect(apply.messages.contains("only the app can compute"), "\(apply)")
    #expect(tool("schema", "show", url).output == before)
  }

  @Test("Invalid files, stores and names fail, and nothing is created")
  func failures() throws {
    let second = try file("second.json", Self.second)
    let invalid = try folder.file("invalid.json", "{\"models\": [{}]}")
    let names = folder.names
    let store = "json:\(folder("none"))"
    for (arguments, code) in [
      (["check", folder("missing.json"), store], 4), (["check", invalid, store], 3),
      (["check", second, store], 4),
      (["apply", second, store], 4), (["restore", store, "Film"], 4),
      (["compact", store, "--erase", "Film"], 4),
      (["diff", second, folder("missing.json")], 4), (["diff", second, "nope"], 3), (["show", store], 4),
      (["check", second], 3), (["nope"], 3),
    ] as [([String], Int32)] {
      let run = tool.run(["schema"] + arguments)
      #expect(run.code == code, "\(arguments): \(run)")
      #expect(folder.names == names)
    }
    let help = tool("schema")
    #expect(help.code == 0, "\(help)")
    #expect(help.output.contains("compact"), "\(help)")
  }
}
