import PersistenceDriver
import PersistenceSQLite
import TestSupport
import Testing

/// Databases with tables that only the program that made them can use.
@Suite struct UnreadableTableTests {
  private let scratch: Scratch
  private let other: Outsider

  init() throws {
    scratch = try Scratch()
    other = try Outsider(scratch.path())
    try other.execute("CREATE TABLE good (id INTEGER PRIMARY KEY, n INT); INSERT INTO good VALUES (1, 1)")
  }

  private let row: [PersistentValue] = [.integer(1), .integer(1)]

  private func values(of name: String, in context: SQLiteContext) throws -> [[PersistentValue]] {
    let schema = try #require(try context.catalog().first { $0.name == name })
    return try context.values(FetchRequest(schema))
  }

  /// The code of the error of reading a table that is no model.
  private func failure(of name: String, in context: SQLiteContext) throws -> PersistenceError.Code? {
    let declared = try ModelSchema(name: name, fields: [FieldSchema("id", .int64)], key: ["id"])
    return code { _ = try context.fetch(FetchRequest(declared)) }
  }

  @Test(
    "E5 a table with a name that is not UTF-8 is left out, and others stay usable", arguments: [false, true])
  func malformedNames(surveys: Bool) throws {
    let (start, end) = (Array("CREATE TABLE \"t".utf8), Array("\" (id INTEGER PRIMARY KEY)".utf8))
    try other.execute(bytes: start + [0xE4] + end)
    for (name, type) in [("number", "INT"), ("text", "TEXT")] {
      let start = Array("CREATE TABLE \(name) (id INTEGER PRIMARY KEY, \"c".utf8)
      try other.execute(bytes: start + [0xE4] + Array("\" \(type))".utf8))
      try other.execute("INSERT INTO \(name) VALUES (1, 1), (2, 2)")
    }
    let context = try scratch.open { $0.surveysForeignTables = surveys }
    #expect(try context.catalog().map(\.name) == ["good"])
    #expect(try values(of: "good", in: context) == [row])
    let left = try context.unmappedObjects()
    #expect(left.map(\.name) == ["number", "text", "t\u{FFFD}"])
    #expect(left.map(\.records) == [2, 2, nil])
    #expect(left.allSatisfy { $0.kind == .table && $0.losesRecords })
    for name in left.map(\.name) { #expect(try failure(of: name, in: context) == .unsupported) }
  }

  @Test("E5 a table that needs a function of another program is no damage: it is read, or left out")
  func functions() throws {
    try other.addFunction("own")
    let names = ["checked", "computed", "sorted"]
    for statement in [
      "CREATE TABLE checked (id INTEGER PRIMARY KEY, n INT CHECK (own(n) > 0))",
      "CREATE TABLE computed (id INTEGER PRIMARY KEY, n INT, g INT GENERATED ALWAYS AS (own(n)))",
      "CREATE TABLE sorted (id INTEGER PRIMARY KEY, n INT)", "CREATE INDEX i ON sorted (own(n))",
    ] { try other.execute(statement) }
    for name in names { try other.execute("INSERT INTO \(name) (id, n) VALUES (1, 1)") }
    let context = try scratch.open()
    for name in names {
      #expect(try values(of: name, in: context) == [row])
      let schema = try #require(try context.schema(named: name))
      let error = #expect(throws: PersistenceError.self) {
        try context.transaction { try $0.insert([.integer(2), .integer(2)], in: schema) }
      }
      #expect(error?.code == .unsupported && error?.message.contains("function") == true, "\(name)")
    }
    try context.close()
    let surveyed = try scratch.open { $0.surveysForeignTables = true }
    #expect(try surveyed.catalog().map(\.name) == ["checked", "good", "sorted"])
    #expect(try values(of: "checked", in: surveyed) == [row])
    let left = try surveyed.unmappedObjects().filter { $0.kind == .table }
    #expect(left.map(\.name) == ["computed"] && left.map(\.records) == [1])
    #expect(try failure(of: "computed", in: surveyed) == .unsupported)
  }

  @Test("E5 a view that needs a function of another program is left out of a survey that names it")
  func views() throws {
    try other.addFunction("own")
    try other.execute("CREATE VIEW shown AS SELECT own(n) AS n FROM good")
    let context = try scratch.open {
      $0.surveysForeignTables = true
      $0.includedViews = ["shown"]
    }
    #expect(try context.catalog().map(\.name) == ["good"])
    let left = try context.unmappedObjects()
    #expect(left.map(\.name) == ["shown"] && left.map(\.records) == [nil])
  }
}
