#if Postgres
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// Writes to tables of other programs, whose constraints stay theirs.
  @Suite(.withServer) struct ForeignWriteTests {
    private func film(_ id: Int64, _ title: String, studio: Int64? = nil, price: Decimal? = nil)
      -> [PersistentValue]
    {
      [
        .integer(id), studio.map { .integer($0) } ?? .null, .text(title), .text("ok"), .null,
        price.map { .decimal($0) } ?? .null, .date(0),
      ]
    }

    @Test(
      "W1 insert, update, save and delete do in another program's table what they do in one of this package")
    func writing() throws {
      let foreign = try ForeignScratch(ForeignScratch.library)
      let context = try foreign.open()
      let (film, credit) = (try context.model("film"), try context.model("credit"))
      try context.transaction { transaction in
        // The key is an identity that the server always generates.
        try transaction.insert(self.film(50, "Fifty", studio: 1, price: 2), in: film)
        #expect(code { try transaction.insert(self.film(50, "Other"), in: film) } == .duplicateKey)
        try transaction.save(self.film(50, "Fifty-one"), in: film)
        try transaction.save(self.film(51, "New"), in: film)
        try transaction.update(self.film(51, "Newer"), in: film)
        #expect(code { try transaction.update(self.film(52, "Absent"), in: film) } == .notFound)
        #expect(try transaction.record([.integer(51)], in: film) == self.film(51, "Newer"))
        #expect(try transaction.delete(RecordKey([.integer(1), .text("Bob")]), in: credit))
        #expect(try !transaction.delete(RecordKey([.integer(1), .text("B\u{0}b")]), in: credit))
        let cheap = try FetchRequest(film, where: .comparison(field: "title", .equal, .text("Newer")))
        #expect(try transaction.delete(cheap) == 1)
        let all = try UpdateRequest(FetchRequest(film), set: [FieldAssignment("mood", .text("happy"))])
        #expect(try transaction.update(all) == 4)
        _ = try? transaction.nested {
          _ = try transaction.deleteAll(in: credit)
          throw PersistenceError(.cancelled, "undo")
        }
      }
      #expect(
        try foreign.texts("SELECT concat(id, ' ', title, ' ', mood, ' ', slug) FROM $.film ORDER BY id")
          == ["1 One happy one", "2 Two happy two", "3 two happy two", "50 Fifty-one happy fifty-one"])
      #expect(try foreign.texts("SELECT person FROM $.credit") == ["Ann"])
      try context.close()
    }

    @Test("E2 L1 W4 each constraint of a table has the error of the package, and the transaction goes on")
    func constraints() throws {
      let foreign = try ForeignScratch(
        ForeignScratch.library + [
          "CREATE UNIQUE INDEX film_slug ON $.film (slug) WHERE slug = 'one'",
          "CREATE FUNCTION $.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
          "CREATE TRIGGER refused BEFORE INSERT ON $.event FOR EACH ROW WHEN (new.note = 'no') "
            + "EXECUTE FUNCTION $.refuse()",
        ])
      let context = try foreign.open()
      let film = try context.model("film")
      let (studio, credit, event) = (
        try context.model("Studio"), try context.model("credit"), try context.model("event")
      )
      func row(_ id: Int64, _ change: (inout [PersistentValue]) -> Void) -> [PersistentValue] {
        var row = self.film(id, "Film \(id)")
        change(&row)
        return row
      }
      try context.transaction { transaction in
        func refused(_ row: [PersistentValue], _ schema: ModelSchema) -> PersistenceError? {
          failure { try transaction.insert(row, in: schema) }
        }
        let unique = refused([.integer(9), .text("Zebra"), .null, .null], studio)
        #expect(unique?.code == .uniqueViolation && unique?.field == "name" && unique?.model == "Studio")
        #expect(unique?.message.contains("'Zebra'") == true)
        // A unique index that no model has is named.
        let slug = refused(row(60) { $0[2] = .text("ONE") }, film)
        #expect(slug?.code == .uniqueViolation && slug?.message.contains("film_slug") == true)
        let broken = refused(row(61) { $0[1] = .integer(77) }, film)
        #expect(broken?.code == .brokenReference && broken?.field == "studio_id")
        #expect(broken?.message.contains("“Studio”") == true)
        let check = refused(row(62) { $0[5] = .decimal(-1) }, film)
        #expect(check?.code == .invalidRequest && check?.message.contains("“positive”") == true)
        let domain = refused(row(63) { $0[4] = .text("nobody") }, film)
        #expect(domain?.code == .invalidRequest && domain?.message.contains("email_check") == true)
        // The row is in the way of one that refers to it.
        let needed = failure { _ = try transaction.delete(RecordKey([.integer(1)]), in: film) }
        #expect(needed?.code == .brokenReference && needed?.message.contains("credit") == true)
        // In a partition, constraints have other names.
        let twice = refused([.integer(1), .text("eu"), .null], event)
        #expect(twice?.code == .duplicateKey)
        #expect(refused([.integer(1), .text("asia"), .null], event)?.code == .invalidRequest)
        let kept = refused([.integer(8), .text("eu"), .text("no")], event)
        #expect(kept?.code == .invalidRequest && kept?.message.contains("trigger") == true)
        try transaction.insert([.integer(3), .text("Cy"), .null], in: credit)
      }
      #expect(try foreign.texts("SELECT person FROM $.credit ORDER BY 1") == ["Ann", "Bob", "Cy"])
      #expect(try context.count(FetchRequest(film)) == 3)
      // Of many records, the rejected one is named.
      let same = try UpdateRequest(
        FetchRequest(film, where: .comparison(field: "title", .notEqual, .text("One"))),
        set: [FieldAssignment("title", .text("Same")), FieldAssignment("day", .date(0))])
      let rejected = failure { try context.transaction { _ = try $0.update(same) } }
      #expect(rejected?.code == .uniqueViolation && rejected?.key == RecordKey([.integer(3)]))
      // The database follows a delete as its foreign key says.
      try context.transaction { _ = try $0.delete(RecordKey([.integer(2)]), in: studio) }
      #expect(try context.record([.integer(2)], in: film) == nil)
      try context.close()
    }

    @Test("W3 a constraint that is checked at commit refuses the transaction as a whole")
    func deferred() throws {
      let foreign = try ForeignScratch([
        "CREATE TABLE $.node (id int PRIMARY KEY, next int REFERENCES $.node DEFERRABLE INITIALLY DEFERRED, "
          + "rank int UNIQUE DEFERRABLE INITIALLY DEFERRED)"
      ])
      let context = try foreign.open()
      let node = try context.model("node")
      #expect(node.indexes.isEmpty)
      try context.transaction { transaction in
        try transaction.insert([.integer(1), .integer(2), .integer(1)], in: node)
        try transaction.save([.integer(2), .integer(1), .integer(2)], in: node)
      }
      #expect(
        code { try context.transaction { try $0.insert([.integer(3), .integer(9), .null], in: node) } }
          == .brokenReference)
      #expect(
        code { try context.transaction { try $0.insert([.integer(4), .null, .integer(1)], in: node) } }
          == .uniqueViolation)
      #expect(try context.count(FetchRequest(node)) == 2)
      try context.close()
    }

    @Test("W1 a key whose equality ignores case does not replace the record of another key")
    func foldedKeys() throws {
      let foreign = try ForeignScratch([
        "CREATE COLLATION $.nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "CREATE TABLE $.t (name text COLLATE $.nocase PRIMARY KEY, n int)", "INSERT INTO $.t VALUES ('a', 1)",
      ])
      let context = try foreign.open()
      let t = try context.model("t")
      #expect(try context.record([.text("A")], in: t) == nil)
      let error = failure { try context.transaction { try $0.save([.text("A"), .integer(2)], in: t) } }
      #expect(error?.code == .uniqueViolation && error?.message.contains("t_pkey") == true)
      try context.transaction { try $0.save([.text("a"), .integer(3)], in: t) }
      #expect(try context.values(FetchRequest(t)) == [[.text("a"), .integer(3)]])
      try context.close()
    }

    @Test("W2 W6 of two transactions of other processes that change one record, the later one throws busy")
    func conflicts() throws {
      let foreign = try ForeignScratch(ForeignScratch.library)
      let context = try foreign.open()
      let film = try context.model("film")
      let failed = failure {
        try context.transaction { transaction in
          var values = try #require(try transaction.record([.integer(1)], in: film))
          try foreign.run(["UPDATE $.film SET title = 'theirs' WHERE id = 1"])
          values[2] = .text("ours")
          try transaction.update(values, in: film)
        }
      }
      #expect(failed?.code == .busy && failed?.isRetryable == true)
      #expect(try context.record([.integer(1)], in: film)?[2] == .text("theirs"))
      // A lock of another program is waited for, until the time is over.
      let hasty = try foreign.open { $0.busyTimeout = .milliseconds(200) }
      let locking = try hasty.pool.take()
      let table = "\(foreign.scratch.schemaName).film"
      _ = try locking.run(
        ["BEGIN", "SELECT 1 FROM \(table) WHERE id = 1 FOR UPDATE"].map { PostgresCommand($0) }, "lock a row")
      #expect(
        code {
          try hasty.transaction {
            _ = try $0.delete(RecordKey([.integer(1), .text("x")]), in: try $0.model("credit"))
          }
        }
          == nil)
      #expect(code { try hasty.transaction { try $0.update(self.film(1, "ours"), in: film) } } == .busy)
      hasty.end(locking)
      try hasty.close()
      try context.close()
    }

    @Test("U1 observers learn of this process's commits, with unknown keys where the table has side effects")
    func observers() throws {
      let foreign = try ForeignScratch([
        "CREATE TABLE $.plain (id int PRIMARY KEY)", "CREATE TABLE $.t (id int PRIMARY KEY)",
      ])
      let context = try foreign.open()
      let plain = try context.model("plain")
      let observer = try CommitObserver(FetchRequest(plain), in: context, keyLimit: 10)
      try context.observers.add(observer)
      _ = try context.observers.look(observer, at: context)
      try context.transaction { try $0.insert([.integer(1)], in: plain) }
      let (snapshot, changes) = try context.observers.look(observer, at: context)
      #expect(try snapshot.values(FetchRequest(plain)) == [[.integer(1)]])
      #expect(!changes.isUnknown && Array(changes.entries.keys) == [RecordKey([.integer(1)])])
      try foreign.run(["ALTER TABLE $.t ADD FOREIGN KEY (id) REFERENCES $.plain ON DELETE CASCADE"])
      try context.transaction { try $0.insert([.integer(2)], in: plain) }
      #expect(try context.observers.look(observer, at: context).changes.isUnknown)
      #expect(!context.observers.noticesOutsideCommits)
      context.observers.remove(observer)
      try context.close()
    }
  }
#endif
