import PersistenceDriver
import PersistenceSQLite
import Testing

/// Temporary tables of the app's own SQL that have the names of models.
@Suite struct TemporaryTableTests {
  private let scratch: Scratch
  private let context: SQLiteContext
  private let stored: ModelSchema

  init() throws {
    scratch = try Scratch()
    stored = try EvolutionTests.movie()
    let first = try scratch.open()
    try first.fill(stored, EvolutionTests.rows)
    try first.close()
    // The writing connection has prepared no statement yet.
    context = try scratch.open()
    try context.execute("CREATE INDEX own ON Movie (title DESC)")
    try context.execute("CREATE TRIGGER watch AFTER DELETE ON Movie BEGIN SELECT 1; END")
    try context.execute("CREATE TEMP TABLE Movie AS SELECT * FROM Movie")
  }

  /// Expects that the temporary table still has its rows.
  private func expectTemporaryRows(location: SourceLocation = #_sourceLocation) throws {
    let count = try context.execute("DELETE FROM temp.Movie")
    #expect(count == EvolutionTests.rows.count, sourceLocation: location)
  }

  @Test("W1 W3 writes go to the table of a model, and reads in a transaction come from it")
  func records() throws {
    let last = try FetchRequest(stored, order: [FieldOrder("id", isDescending: true)], limit: 1)
    let added: [PersistentValue] = [.integer(9), .text("z"), .null, .double(0), .text("u:9")]
    let expected = Array(EvolutionTests.rows.dropFirst()) + [added]
    try context.transaction { transaction in
      try transaction.insert(added, in: stored)
      let deleted = try transaction.delete(last)
      #expect(deleted == 1)
      try transaction.save(added, in: stored)
      let wasThere = try transaction.delete(RecordKey([.integer(1)]), in: stored)
      #expect(wasThere)
      let rows = try transaction.values(FetchRequest(stored))
      #expect(rows == expected)
    }
    #expect(try context.values(FetchRequest(stored)) == expected)
    try expectTemporaryRows()
  }

  @Test("S8 definitions and changes of schema leave temporary tables alone, and keep indexes and triggers")
  func schemas() throws {
    try context.execute("CREATE TEMP TABLE Other AS SELECT * FROM temp.Movie")
    let other = try EvolutionTests.movie("Other")
    try context.fill(other, EvolutionTests.rows)
    try context.transaction { transaction in
      try transaction.evolve(
        EvolutionTests.adding([(FieldSchema("stars", .int64), .integer(7))], to: other))
      try transaction.evolve(EvolutionTests.erasing(stored))
    }
    let objects = try context.rows(
      "SELECT name FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY name")
    let names = [
      "Movie_title_index", "Movie_year_index", "Other_title_index", "Other_year_index", "own", "watch",
    ]
    #expect(objects == names.map { [.text($0)] })
    let target = try EvolutionTests.erasing(stored).target
    let rows = EvolutionTests.rows.map { Array($0.dropLast()) }
    #expect(try context.values(FetchRequest(target)) == rows)
    #expect(try context.rows("SELECT DISTINCT stars FROM Other") == [[.integer(7)]])
    try context.transaction { try $0.drop(target) }
    #expect(try context.catalog().map(\.name) == ["Other"])
    try expectTemporaryRows()
  }

  @Test("E4 a table of another program keeps its model although a temporary table has other columns")
  func foreignTables() throws {
    try context.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")
    try context.execute("CREATE TEMP TABLE note (other)")
    try context.transaction { transaction in
      let schema = try #require(try transaction.schema(named: "note"))
      #expect("\(schema)" == "note(id: int64 key, body: string)")
      try transaction.insert([.integer(1), .text("x")], in: schema)
    }
    #expect(try context.rows("SELECT * FROM note") == [[.integer(1), .text("x")]])
  }
}
