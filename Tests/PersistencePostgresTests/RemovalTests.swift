#if Postgres
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import Testing

  @testable import PersistencePostgres

  /// The removal of tables that transactions have dropped.
  @Suite(.withServer) struct RemovalTests {
    /// A store from which the notes were dropped, while a view keeps their table.
    private func dropped() throws -> (Scratch, PostgresContext) {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "old")])
      let name = scratch.schemaName
      try scratch.run("CREATE VIEW \(name).seen AS SELECT text FROM \(name).\"Note\"")
      try context.transaction { try $0.drop(Scratch.schema.get()) }
      #expect(try count(scratch, "\"Note\"") == 1, "the view is in the way")
      return (scratch, context)
    }

    private func count(_ scratch: Scratch, _ table: String) throws -> Int64? {
      try scratch.run("SELECT count(*) FROM \(scratch.schemaName).\(table)").first?.integer(0, 0)
    }

    @Test("W5 a dropped table that somebody removed by hand costs a new table of its name no records")
    func nameTakenAgain() throws {
      let (scratch, context) = try dropped()
      let name = scratch.schemaName
      try scratch.run("DROP VIEW \(name).seen", "DROP TABLE \(name).\"Note\"")
      try context.save([Scratch.row(2, "new")])
      try context.close()
      let again = try scratch.open()
      #expect(try again.texts() == ["new"])
      #expect(try count(scratch, "persistence_dropped") == 0)
      try again.close()
    }

    @Test("W5 a table of a model is not removed, although an earlier version noted its name as dropped")
    func noteWithoutNumber() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      try scratch.run("INSERT INTO \(scratch.schemaName).persistence_dropped VALUES ('table', 'Note')")
      try context.close()
      let again = try scratch.open()
      #expect(try again.texts() == ["one"])
      #expect(try count(scratch, "persistence_dropped") == 0)
      try again.close()
    }

    @Test("E6 a table of another program with the name of a dropped one stays")
    func otherTable() throws {
      let (scratch, context) = try dropped()
      let name = scratch.schemaName
      try scratch.run(
        "DROP VIEW \(name).seen", "DROP TABLE \(name).\"Note\"",
        "CREATE TABLE \(name).\"Note\" (id int8)")
      try context.close()
      #expect(try count(scratch, "\"Note\"") == 0)
      #expect(try count(scratch, "persistence_dropped") == 0)
    }

    @Test("a dropped table is removed when nothing is in its way, and is no unmapped object meanwhile")
    func removed() throws {
      let (scratch, context) = try dropped()
      #expect(try context.unmappedObjects().map(\.name) == ["seen"])
      try scratch.run("DROP VIEW \(scratch.schemaName).seen")
      try context.close()
      let tables = try scratch.run(
        "SELECT 1 FROM pg_class WHERE relname = 'Note' "
          + "AND relnamespace = '\(scratch.schemaName)'::regnamespace")
      #expect(tables.first?.count == 0)
    }

    @Test(
      "E4 C2 the versions of the catalog have random steps, so that a server that lost one gives another one")
    func versions() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      let first = try #require(context.store.catalog?.version)
      try context.transaction { try $0.drop(Scratch.schema.get()) }
      let second = try #require(context.store.catalog?.version)
      #expect(second - first > 1)
      try context.close()
    }
  }
#endif
