#if Postgres
  import Foundation
  import PersistenceConformance
  import PersistenceCore
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceMigration
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// Schemas of other programs as models.
  @Suite(.withServer) struct ForeignCatalogTests {
    @Test("the definitions of a schema determine its models: kinds, keys, indexes, nil")
    func models() throws {
      let foreign = try ForeignScratch(ForeignScratch.library)
      let context = try foreign.open()
      #expect(
        try context.catalog().map { "\($0)" } == [
          "Studio(id: int64 key, name: string, select: int64?, Mixed Case: string?)",
          "credit(film_id: int64 key, person: string key, role: string?)",
          "event(id: int64 key, region: string key, note: string?)",
          "film(id: int64 key, studio_id: int64?, title: string, mood: string?, mail: string?, price: decimal?, "
            + "day: date?)",
        ])
      #expect(try context.model("Studio").indexes == [IndexSchema(["name"], isUnique: true)])
      #expect(try context.model("film").indexes == [IndexSchema(["title", "day"], isUnique: true)])
      #expect(try context.model("credit").key == ["film_id", "person"])
      #expect(
        try context.column("note", FetchRequest(context.model("event"))) == [.text("a"), .text("b"), .null])
      #expect(try context.schema(named: "loose") == nil)
      let loose = try ModelSchema(name: "loose", fields: [FieldSchema("n", .int64)], key: ["n"])
      let error = failure { _ = try context.fetch(FetchRequest(loose)) }
      #expect(error?.code == .unsupported && error?.model == "loose")
      try context.close()
    }

    @Test("nothing is created or changed in a schema of other programs")
    func nothingIsCreated() throws {
      let foreign = try ForeignScratch(ForeignScratch.library)
      let before = try foreign.relations()
      let context = try foreign.open()
      let film = try context.model("film")
      let absent = try ModelSchema(name: "Absent", fields: [FieldSchema("id", .int64)], key: ["id"])
      #expect(try context.values(FetchRequest(absent)).isEmpty)
      #expect(code { try context.transaction { try $0.define(absent) } } == .unsupported)
      #expect(code { try context.transaction { try $0.drop(film) } } == .unsupported)
      let renamed = try ModelSchema(name: "movie", fields: film.fields, key: film.key)
      let change = try SchemaChange(from: film, to: renamed, sources: film.fields.indices.map { .field($0) })
      let refused = failure { try context.transaction { try $0.evolve(change) } }
      #expect(refused?.code == .unsupported)
      #expect(
        refused?.message == "another program made the table of film; use that program to change or remove it")
      #expect(code { _ = try context.cost(of: change) } == .unsupported)
      try context.transaction { try $0.define(film) }
      try context.close()
      #expect(try foreign.relations() == before)
      #expect(!context.capabilities.noticesOutsideCommits && !context.capabilities.dropsModels)
      #expect(context.capabilities.datePrecision == .microseconds)
    }

    @Test("a schema is opened as what it contains, unless the configuration says otherwise")
    func openings() throws {
      let foreign = try ForeignScratch(["CREATE TABLE $.t (id int PRIMARY KEY)"])
      #expect(try foreign.open().catalog().map(\.name) == ["t"])
      // With false, a store is created beside the table.
      let beside = try foreign.open { $0.isForeign = false }
      #expect(try beside.catalog().isEmpty)
      #expect(try beside.unmappedObjects().map(\.name) == ["t"])
      try beside.close()
      #expect(try foreign.open().catalog().isEmpty, "a store is there now")
      #expect(code { _ = try foreign.open { $0.isForeign = true } } == .unsupported)
      let empty = try ForeignScratch([])
      #expect(try empty.open { $0.isForeign = true }.catalog().isEmpty)
      #expect(try empty.relations().isEmpty)
      try empty.run(["DROP SCHEMA $"])
      #expect(code { _ = try empty.open { $0.isForeign = true } } == .missingStore)
      let url = foreign.scratch.url + "&schema=\(foreign.scratch.configuration.schema)&foreign=true"
      #expect(code { _ = try PostgresContext(url: url) } == .unsupported)
    }

    @Test("views that are named are models, which are read and not written")
    func views() throws {
      let foreign = try ForeignScratch(
        ForeignScratch.library + [
          "CREATE VIEW $.moods AS SELECT mood::text AS mood FROM $.film WHERE mood IS NOT NULL",
          "CREATE MATERIALIZED VIEW $.kept AS SELECT 1 AS same, person FROM $.credit",
        ])
      let context = try foreign.open { $0.includedViews = ["cheap", "kept"] }
      let cheap = try context.model("cheap")
      #expect("\(cheap)" == "cheap(id: int64 key, title: string?, price: decimal?)")
      #expect(try context.values(FetchRequest(cheap)) == [[.integer(1), .text("One"), .decimal(1.5)]])
      #expect("\(try context.model("kept"))" == "kept(same: int64?, person: string key)")
      #expect(try context.snapshot().count(FetchRequest(context.model("kept"))) == 2)
      let row: [PersistentValue] = [.integer(9), .text("x"), .decimal(1)]
      #expect(code { try context.transaction { try $0.insert(row, in: cheap) } } == .unsupported)
      #expect(code { try context.transaction { _ = try $0.deleteAll(in: cheap) } } == .unsupported)
      #expect(try context.unmappedObjects().filter { $0.kind == .view }.map(\.name) == ["moods"])
      try context.close()
      #expect(code { _ = try foreign.open { $0.includedViews = ["absent"] } } == .invalidRequest)
    }

    @Test("reading a view writes nothing, whatever its functions do")
    func viewsThatWrite() throws {
      let foreign = try ForeignScratch(
        ForeignScratch.library + [
          "CREATE TABLE $.seen (n int)", "CREATE TABLE $.armed (n int)",
          """
          CREATE FUNCTION $.note() RETURNS int LANGUAGE plpgsql AS
          'BEGIN IF EXISTS (SELECT FROM $.armed) THEN INSERT INTO $.seen VALUES (1); END IF; RETURN 1; END'
          """,
          "CREATE VIEW $.watched AS SELECT id, title, $.note() AS noted FROM $.film",
        ])
      let context = try foreign.open { $0.includedViews = ["watched"] }
      let watched = try context.model("watched")
      #expect(try context.record([.integer(1)], in: watched) == [.integer(1), .text("One"), .integer(1)])
      try foreign.run(["INSERT INTO $.armed VALUES (1)"])
      let reads: [() throws -> Void] = [
        { _ = try context.record([.integer(1)], in: watched) },
        { _ = try context.values(FetchRequest(watched)) },
        { _ = try context.fetch(FetchRequest(watched, limit: 1)).count() },
        { _ = try context.snapshot().count(FetchRequest(watched)) },
        { _ = try foreign.open { $0.includedViews = ["watched"] } },
      ]
      for (number, read) in reads.enumerated() {
        #expect(code(read) == .readOnly, "read \(number)")
        #expect(try foreign.texts("SELECT concat(count(*)) FROM $.seen") == ["0"], "read \(number)")
      }
      try context.close()
    }

    @Test("what models do not express is listed, with the references that foreign keys amount to")
    func unmapped() throws {
      let foreign = try ForeignScratch(
        ForeignScratch.library + [
          "CREATE FUNCTION $.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'",
          "CREATE TRIGGER credited BEFORE INSERT ON $.credit FOR EACH ROW EXECUTE FUNCTION $.nothing()",
        ])
      let context = try foreign.open()
      let found = try context.unmappedObjects()
      #expect(
        found.map { "\($0.kind.rawValue) \($0.model ?? "-") \($0.name)" }.sorted() == [
          "check film positive", "collation Studio name", "column film tags", "default Studio Mixed Case",
          "default Studio id", "foreign key credit credit_film_id_fkey",
          "foreign key film film_studio_id_fkey", "generated column film id", "generated column film slug",
          "index film film_lower", "index film film_price", "table - loose", "trigger credit credited",
          "view - cheap",
        ])
      #expect(found.first { $0.name == "loose" }?.records == 0)
      let references = try ReferenceLedger.foreign(context).map {
        "\($0.model).\($0.field) \($0.target) \($0.rule)"
      }
      #expect(references.sorted() == ["credit.film_id film restrict", "film.studio_id Studio cascade"])
      try context.close()
      // Opened to read, generated columns are fields.
      let reading = try foreign.open { $0.isReadOnly = true }
      #expect(
        try reading.column("slug", FetchRequest(reading.model("film")))
          == [.text("one"), .text("two"), .text("two")])
      try reading.close()
    }

    @Test("S10 a change by another program is noticed at the next call")
    func changes() throws {
      let foreign = try ForeignScratch([
        "CREATE TABLE $.t (id int PRIMARY KEY, n int)", "INSERT INTO $.t VALUES (1, 7)",
      ])
      let context = try foreign.open()
      let before = try context.model("t")
      #expect(try context.record([.integer(1)], in: before) == [.integer(1), .integer(7)])
      try foreign.run(["ALTER TABLE $.t ALTER n TYPE numeric USING n + 0.5"])
      #expect(code { _ = try context.record([.integer(1)], in: before) } == .schemaMismatch)
      let after = try context.model("t")
      #expect(try context.record([.integer(1)], in: after) == [.integer(1), .decimal(7.5)])
      try foreign.run(["ALTER TABLE $.t RENAME n TO m", "CREATE TABLE $.u (id int PRIMARY KEY)"])
      #expect(code { _ = try context.values(FetchRequest(after)) } == .schemaMismatch)
      #expect(try context.catalog().map(\.name) == ["t", "u"])
      #expect(
        code { try context.transaction { try $0.insert([.integer(2), .null], in: after) } } == .schemaMismatch
      )
      try foreign.run(["DROP TABLE $.t"])
      #expect(try context.values(FetchRequest(after)).isEmpty)
      try context.close()
    }

    @Test("S10 a change of a domain is noticed at the next call, since columns of it may hold other values")
    func changedDomains() throws {
      let foreign = try ForeignScratch([
        "CREATE DOMAIN $.amount AS int NOT NULL", "CREATE TABLE $.t (id int PRIMARY KEY, n $.amount)",
        "INSERT INTO $.t VALUES (1, 7)",
      ])
      let context = try foreign.open()
      let before = try context.model("t")
      #expect(try context.values(FetchRequest(before)) == [[.integer(1), .integer(7)]])
      try foreign.run(["ALTER DOMAIN $.amount DROP NOT NULL", "INSERT INTO $.t VALUES (2, NULL)"])
      #expect(code { _ = try context.values(FetchRequest(before)) } == .schemaMismatch)
      #expect(try context.values(FetchRequest(context.model("t"))).last == [.integer(2), .null])
      try context.close()
    }

    @Test("a date that no column can store is compared, and refused")
    func distantDates() throws {
      let foreign = try ForeignScratch([
        "CREATE TABLE $.t (id int PRIMARY KEY, at timestamptz, day date)",
        "INSERT INTO $.t VALUES (1, '294276-12-31 23:59:59+00', '295000-01-01'), (2, '2020-01-01', NULL)",
      ])
      let context = try foreign.open()
      let schema = try context.model("t")
      for seconds in [9.2233404e12, 9.2233721e12, 9.25e12, 9.2999e12, 9.3e12] {
        for field in ["at", "day"] {
          let before = PredicateNode.comparison(field: field, .less, .date(seconds))
          let expected: [PersistentValue] =
            field == "at" ? [.integer(1), .integer(2)] : seconds >= 9.25e12 ? [.integer(1)] : []
          #expect(
            try context.column("id", FetchRequest(schema, where: before)) == expected, "\(field) \(seconds)")
          let after = PredicateNode.comparison(field: field, .greater, .date(-seconds))
          #expect(try context.count(FetchRequest(schema, where: after)) == (field == "at" ? 2 : 1))
        }
        let row: [PersistentValue] = [.integer(3), .date(seconds), .null]
        #expect(code { try context.transaction { try $0.insert(row, in: schema) } } == .invalidRequest)
      }
      let stored = try #require(try context.record([.integer(1)], in: schema))
      #expect(code { try context.transaction { try $0.save(stored, in: schema) } } == .invalidRequest)
      try context.close()
    }

    @Test("a migration copies the tables, and refuses to omit columns and tables silently")
    func migration() throws {
      let foreign = try ForeignScratch(ForeignScratch.library + ["INSERT INTO $.loose VALUES (1)"])
      let context = try foreign.open { $0.isReadOnly = true }
      let plan = try Migration(from: context, to: MemoryContext()).plan()
      #expect(plan.isLossy)
      #expect(plan.unmappedObjects.filter(\.losesRecords).map(\.name).sorted() == ["loose", "tags"])
      let copy = MemoryContext()
      #expect(code { _ = try Migration(from: context, to: copy).run() } == .lossyMigration)
      var options = MigrationOptions()
      options.allowLossy = true
      _ = try Migration(from: context, to: copy, options: options).run()
      for schema in try context.catalog() {
        #expect(try copy.values(FetchRequest(schema)) == context.values(FetchRequest(schema)))
      }
      try context.close()
    }

    @Test("S1 a repository reads and writes a table that its declaration matches")
    func repositories() throws {
      let foreign = try ForeignScratch([
        """
        CREATE TABLE $."Account" (id int PRIMARY KEY, balance bigint NOT NULL, transfers smallint NOT NULL,
          note varchar(20) NOT NULL, extra text)
        """, "CREATE INDEX ON $.\"Account\" (balance)",
        "INSERT INTO $.\"Account\" VALUES (1, 5, 0, 'first', 'kept')",
      ])
      let repository = Repository(try foreign.open())
      #expect(try repository.find(Account.self, id: 1) == Account(1, balance: 5, note: "first"))
      try repository.save(Account(1, balance: 6, transfers: 1, note: "changed"))
      try repository.insert(Account(2, balance: 7, note: "second"))
      #expect(try repository.filter(Account.self).result().map(\.balance) == [6, 7])
      #expect(
        try foreign.texts("SELECT concat(id, note, extra) FROM $.\"Account\" ORDER BY id")
          == ["1changedkept", "2second"])
      #expect(code { try repository.insert(Account(3, balance: 0, transfers: 40_000)) } == .invalidRequest)
      #expect(code { try repository.save(Person("ann")) } == .unsupported)
    }
  }
#endif
