#if Postgres
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import TestSupport
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

    @Test("C3 S8 a restored copy, whose objects have other numbers, removes a dropped table too")
    func restoredCopy() throws {
      let (scratch, context) = try dropped()
      let name = scratch.schemaName
      try scratch.run("DROP VIEW \(name).seen", "UPDATE \(name).persistence_dropped SET kind = 'table 1'")
      #expect(try context.unmappedObjects().isEmpty)
      try context.close()
      let isGone = try scratch.run("SELECT to_regclass('\(name).\"Note\"') IS NULL")
      #expect(isGone.first?.integer(0, 0) == 1)
    }

    @Test("C3 a later transaction removes what a reader kept from its removal")
    func laterRemoval() throws {
      let start = ContinuousClock.now
      let (scratch, context) = try dropped()
      #expect(!context.store.retriesRemoval(at: start))
      #expect(context.store.retriesRemoval(at: .now + .seconds(10)))
      #expect(!context.store.retriesRemoval(at: .now + .seconds(9)), "another thread has begun to")
      try scratch.run("DROP VIEW \(scratch.schemaName).seen")
      context.removeDropped()
      #expect(try count(scratch, "persistence_dropped") == 0)
      #expect(!context.store.retriesRemoval(at: .now + .seconds(1_000)), "nothing is left")
      try context.close()
    }

    /// How a long value comes into an index.
    enum Write: CaseIterable { case save, replayableSave, update, copy }

    private func save(
      _ note: [PersistentValue], of schema: ModelSchema, in transaction: any StorageTransaction
    ) throws {
      let row = RowBuffer(count: note.count)
      row.set(note)
      try row.withRow { try transaction.save($0, in: schema) }
    }

    private func write(
      _ text: String, by write: Write, of schema: ModelSchema, in context: PostgresContext
    ) throws {
      let mode = write == .replayableSave ? TransactionMode.replayable : .exclusive
      try context.transaction(mode) { transaction in
        switch write {
        case .save, .replayableSave:
          try save([.integer(1), .text(text)], of: schema, in: transaction)
        case .update:
          let all = try UpdateRequest(FetchRequest(schema), set: [FieldAssignment("text", .text(text))])
          _ = try transaction.update(all)
        case .copy:
          _ = try transaction.deleteAll(in: schema)
          let row = RowBuffer(count: 2)
          let areInserted = try transaction.insertTogether(5, in: schema) { position, body in
            row.set([.integer(Int64(1 + position)), .text(text)])
            try row.withRow(body)
          }
          // As the library goes on, to learn which one is refused.
          if !areInserted { try row.withRow { try transaction.insert($0, in: schema) } }
        }
      }
    }

    @Test(
      "W1 V2 an index that was removed beside a reader refuses no long value after the reader has gone",
      arguments: Write.allCases)
    func droppedIndex(_ write: Write) throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      let impatient = try scratch.open { $0.busyTimeout = .milliseconds(300) }
      let fields = [FieldSchema("id", .int64), FieldSchema("text", .string)]
      let older = try ModelSchema(
        name: "Note", fields: fields, key: ["id"], indexes: [IndexSchema(["text"])])
      let newer = try ModelSchema(name: "Note", fields: fields, key: ["id"])
      try context.transaction { transaction in
        try transaction.define(older)
        try save([.integer(1), .text("one")], of: older, in: transaction)
      }
      func indexes() throws -> Int64? {
        let schema = scratch.configuration.schema
        let count = "SELECT count(*) FROM pg_indexes WHERE schemaname = '\(schema)' AND tablename = 'Note'"
        return try scratch.run(count).first?.integer(0, 0)
      }
      var held: [any StorageSnapshot] = [try context.snapshot()]
      try context.transaction {
        try $0.evolve(SchemaChange(from: older, to: newer, sources: [.field(0), .field(1)]))
      }
      #expect(try indexes() == 2, "the snapshot is in the way")
      try self.write("short", by: write, of: newer, in: context)
      // Random, because the server compresses entries.
      var random = SystemRandomNumberGenerator()
      let alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
      let long = String((0..<6_000).map { _ in alphabet.randomElement(using: &random) ?? "a" })
      #expect(code { try self.write(long, by: write, of: newer, in: impatient) } == .busy)
      #expect(try held[0].count(FetchRequest(older)) == 1)
      held = []
      try self.write(long, by: write, of: newer, in: context)
      #expect(try indexes() == 1)
      #expect(try count(scratch, "persistence_dropped") == 0)
      let equal = try FetchRequest(newer, where: .comparison(field: "text", .equal, .text(long)))
      #expect(try context.count(equal) == (write == .copy ? 5 : 1))
      // A context that knows the index does without it too.
      try self.write(long, by: .update, of: newer, in: impatient)
      try impatient.close()
      try context.close()
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
