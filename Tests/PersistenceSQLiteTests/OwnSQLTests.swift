import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQLite
import TestSupport
import Testing

/// Statements of the app's own SQL.
@Suite struct OwnSQLTests {
  private let scratch: Scratch
  private let context: SQLiteContext
  private let schema: ModelSchema

  init() throws {
    scratch = try Scratch()
    schema = try ModelSchema(
      name: "Word", fields: [FieldSchema("id", .int64), FieldSchema("text", .string)], key: ["id"])
    // The reads of a test have one connection, so that each would meet what another has left.
    context = try scratch.open { $0.poolSize = 1 }
    try context.fill(schema, [[.integer(1), .text("a")]])
  }

  @Test("W6 what a statement attaches or sets ends with it, whatever precedes its first word")
  func settings() throws {
    for start in ["", " \n", "-- a comment\n", "/* a comment */"] {
      #expect(try context.rows("\(start)PRAGMA query_only = 0").isEmpty)
      #expect(try context.rows("\(start)ATTACH ':memory:' AS other").isEmpty)
      #expect(try context.rows("\(start)PRAGMA busy_timeout = 7") == [[.integer(7)]])
      #expect(try context.rows("PRAGMA query_only") == [[.integer(1)]])
      #expect(try context.rows("SELECT name FROM pragma_database_list WHERE name = 'other'").isEmpty)
      #expect(code { _ = try context.rows("\(start)CREATE TABLE t (n)") } == .invalidRequest)
    }
    #expect(try context.rows("BEGIN").isEmpty)
    try context.fill(schema, [[.integer(2), .text("b")]])
    #expect(try context.rows("select count(*) from Word") == [[.integer(2)]])
    #expect(try context.rows("WITH w AS (SELECT 3) SELECT * FROM w") == [[.integer(3)]])
    #expect(try context.rows("VALUES (?1)", [.text("x")]) == [[.text("x")]])
    try context.close()
    for sql in ["SELECT 1", "PRAGMA query_only"] { #expect(code { _ = try context.rows(sql) } == .closed) }
  }

  @Test("U1 W7 a temporary trigger of the app counts as one of the file")
  func temporaryTriggers() throws {
    let observer = try CommitObserver(FetchRequest(schema), in: context, keyLimit: 100)
    try context.observers.add(observer)
    func changes(of id: Int64) throws -> KeyChanges {
      try context.transaction { try $0.insert([.integer(id), .text("x")], in: schema) }
      return try context.observers.look(observer, at: context).changes
    }
    _ = try changes(of: 2)
    #expect(try !changes(of: 3).isUnknown)
    try context.execute(
      """
      CREATE TEMP TRIGGER more AFTER INSERT ON main.Word WHEN new.id = 4
      BEGIN UPDATE Word SET text = 'y' WHERE id = 1; END
      """)
    #expect(try changes(of: 4).isUnknown)
    #expect(try context.values(of: .integer(1), in: schema) == [.integer(1), .text("y")])
    try context.execute(
      "CREATE TEMP TRIGGER none BEFORE INSERT ON main.Word WHEN new.id = 5 BEGIN SELECT RAISE(IGNORE); END")
    #expect(code { _ = try changes(of: 5) } == .invalidRequest)
    try context.execute("DROP TRIGGER more")
    try context.execute("DROP TRIGGER none")
    #expect(try !changes(of: 6).isUnknown)
  }
}
