import PersistenceDriver
import PersistenceSQLite
import Testing

/// Models and tables with the names of SQLite's own tables, which a table of the file would hide (contract E6).
@Suite struct PragmaNameTests {
  private static let names = [
    "pragma_table_list", "PRAGMA_index_list", "pragma_index_xinfo", "pragma_table_xinfo",
    "pragma_foreign_key_list",
  ]
  private let rows: [[PersistentValue]] = [[.text("a"), .integer(1)]]

  private func schema(_ name: String) throws -> ModelSchema {
    try ModelSchema(
      name: name, fields: [FieldSchema("id", .string), FieldSchema("number", .int64, isOptional: true)],
      key: ["id"], indexes: [IndexSchema(["number"])])
  }

  private func expect(_ schemas: [ModelSchema], in context: SQLiteContext) throws {
    for schema in schemas {
      #expect(try context.values(FetchRequest(schema)) == rows, "\(schema.name)")
      #expect(try context.values(of: .text("a"), in: schema) == rows[0])
      _ = try context.plan(for: FetchRequest(schema, order: [FieldOrder("number")]))
    }
  }

  @Test("E6 models with the names of SQLite's own tables get other tables")
  func models() throws {
    let scratch = try Scratch()
    let context = try scratch.open()
    let schemas = try (Self.names + ["Tag"]).map(schema)
    for schema in schemas { try context.fill(schema, rows) }
    let taken = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'pragma%'"
    #expect(try context.rows(taken).isEmpty)
    try expect(schemas, in: context)
    try context.close()
    let again = try scratch.open()
    try expect(schemas, in: again)
    #expect(try again.catalog().map(\.name).sorted() == schemas.map(\.name).sorted())
  }

  @Test("E6 tables of other programs with the names of SQLite's own hide nothing")
  func tables() throws {
    let scratch = try Scratch()
    let outsider = try Outsider(scratch.path())
    for name in Self.names {
      try outsider.execute("CREATE TABLE \(name) (id TEXT PRIMARY KEY, number INTEGER)")
      try outsider.execute("INSERT INTO \(name) VALUES ('a', 1)")
    }
    let context = try scratch.open()
    let tag = try schema("Tag")
    try context.fill(tag, rows)
    let others = try Self.names.map { try #require(try context.schema(named: $0)) }
    try expect(others + [tag], in: context)
    #expect(try context.unmappedObjects().isEmpty)
  }

  @Test(
    "W1 E6 a save changes a record of a model that has SQL's name for the new row",
    arguments: ["excluded", "Excluded"])
  func newRow(name: String) throws {
    let scratch = try Scratch()
    let context = try scratch.open()
    let schema = try ModelSchema(
      name: name, fields: [FieldSchema("id", .int64), FieldSchema("text", .string)], key: ["id"])
    for text in ["a", "b"] { try context.fill(schema, [[.integer(1), .text(text)]]) }
    #expect(try context.values(FetchRequest(schema)) == [[.integer(1), .text("b")]])
  }
}
