import PersistenceDriver
import PersistenceSQLite
import TestSupport
import Testing

@Suite("Changes of schema beside objects of other programs")
struct EvolutionTriggerTests {
  let scratch: Scratch
  let context: SQLiteContext
  let stored: ModelSchema

  init() throws {
    scratch = try Scratch()
    context = try scratch.open()
    stored = try EvolutionTests.movie()
  }

  @Test(
    "S8 a change of an empty table keeps the indexes and triggers of other programs",
    arguments: [true, false], ["Movie", "MOVIE"]
  )
  func empty(adds: Bool, table: String) throws {
    try context.fill(stored, [])
    for statement in [
      "CREATE INDEX own ON Movie (title DESC)",
      "CREATE TRIGGER watch AFTER INSERT ON \(table) BEGIN SELECT 1; END",
    ] { try context.execute(statement) }
    let added = try EvolutionTests.adding([(FieldSchema("stars", .int64), .integer(7))], to: stored)
    let change = try adds ? added : EvolutionTests.erasing(stored)
    #expect(try context.cost(of: change) == .catalog)
    try context.transaction { try $0.evolve(change) }
    let objects = try context.rows(
      "SELECT name FROM sqlite_schema WHERE name IN ('own', 'watch', 'Movie_title_index') ORDER BY name")
    #expect(objects == ["Movie_title_index", "own", "watch"].map { [.text($0)] })
    let row = adds ? EvolutionTests.rows[0] + [.integer(8)] : Array(EvolutionTests.rows[0].dropLast())
    try context.transaction { try $0.insert(row, in: change.target) }
    #expect(try context.values(FetchRequest(change.target)) == [row])
    #expect(try context.rows("PRAGMA integrity_check") == [[.text("ok")]])
  }

  @Test(
    "E4 a change that would lose a column of another program is refused, and another one keeps it",
    arguments: [true, false])
  func addedColumn(isEmpty: Bool) throws {
    let rows = isEmpty ? [] : EvolutionTests.rows
    let good: [[PersistentValue]] = rows.map { _ in [.text("good")] }
    try context.fill(stored, rows)
    try context.execute("ALTER TABLE Movie ADD COLUMN mood TEXT DEFAULT 'good'")
    let erasing = try EvolutionTests.erasing(stored)
    func moods() throws -> [[PersistentValue]] { try context.rows("SELECT mood FROM Movie") }
    let error = #expect(throws: PersistenceError.self) {
      try context.transaction { try $0.evolve(erasing) }
    }
    #expect(error?.code == .schemaMismatch && error?.message.contains("“mood”") == true)
    #expect(try context.values(FetchRequest(stored)) == rows)
    #expect(try moods() == good)
    let adding = try EvolutionTests.adding([(FieldSchema("stars", .int64), .integer(7))], to: stored)
    try context.transaction { try $0.evolve(adding) }
    #expect(try context.values(FetchRequest(adding.target)) == rows.map { $0 + [.integer(7)] })
    #expect(try moods() == good)
  }

  @Test("E4 a change that was refused for a column of another program is made once the column is removed")
  func removedColumn() throws {
    try context.fill(stored, EvolutionTests.rows)
    try context.execute("ALTER TABLE Movie ADD COLUMN mood TEXT")
    let erasing = try EvolutionTests.erasing(stored)
    #expect(code { try context.transaction { try $0.evolve(erasing) } } == .schemaMismatch)
    try context.execute("ALTER TABLE Movie DROP COLUMN mood")
    try context.transaction { try $0.evolve(erasing) }
    let rows = EvolutionTests.rows.map { Array($0.dropLast()) }
    #expect(try context.values(FetchRequest(erasing.target)) == rows)
  }

  @Test("S8 a change that moves the records deletes no record of a table that refers to them")
  func foreignKeys() throws {
    try context.fill(stored, EvolutionTests.rows)
    for statement in [
      "CREATE TABLE note (id INTEGER PRIMARY KEY, movie REFERENCES Movie (id) ON DELETE CASCADE)",
      "INSERT INTO note VALUES (1, 1), (2, 2)", "PRAGMA foreign_keys = ON",
    ] { try context.execute(statement) }
    let change = try EvolutionTests.erasing(stored)
    #expect(try context.cost(of: change) == .rewrite)
    try context.transaction { try $0.evolve(change) }
    #expect(try context.rows("SELECT count(*) FROM note") == [[.integer(2)]])
    #expect(try context.rows("PRAGMA foreign_key_check").isEmpty)
  }

  @Test("S8 a value that replaces nil fires no trigger of another program", arguments: ["Movie", "MOVIE"])
  func replacement(table: String) throws {
    try context.fill(stored, EvolutionTests.rows)
    for statement in [
      "CREATE TABLE Log (id INTEGER PRIMARY KEY)",
      "CREATE TRIGGER watch AFTER UPDATE ON \(table) BEGIN INSERT INTO Log VALUES (NULL); END",
    ] { try context.execute(statement) }
    var fields = EvolutionTests.fields
    fields[2].isOptional = false
    var sources = fields.indices.map { SchemaChange.Source.field($0) }
    sources[2] = .field(2, replacingNil: .integer(5))
    let target = try EvolutionTests.movie("Movie", fields)
    let change = try SchemaChange(from: stored, to: target, sources: sources)
    #expect(try context.cost(of: change) == .rewrite)
    try context.transaction { try $0.evolve(change) }
    #expect(
      try context.values(FetchRequest(target)).map { $0[2] } == [.integer(1990), .integer(5), .integer(2000)])
    #expect(try context.rows("SELECT id FROM Log").isEmpty)
    #expect(try context.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'") == [[.text("watch")]])
  }
}
