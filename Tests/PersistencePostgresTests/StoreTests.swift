#if Postgres
  import Foundation
  import OurContexts
  import PersistenceDriver
  import PersistenceDriverSupport
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// What only a server can do to a store.
  @Suite(.withServer) struct StoreTests {
    @Test("W5 R4 a restart of the server breaks idle connections, and no call notices")
    func idleConnections() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      for round in 2...4 {
        _ = try context.texts()
        try scratch.endConnections()
        try context.save([Scratch.row(Int64(round), "\(round)")])
        try scratch.endConnections()
        #expect(try context.count(FetchRequest(Scratch.schema.get())) == round)
      }
      try context.close()
    }

    @Test("W3 W5 a connection that breaks within a transaction rolls it back, and throws unreachable")
    func brokenTransaction() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      let failed = code {
        try context.transaction { transaction in
          try transaction.save(Scratch.row(2, "two"))
          try scratch.endConnections()
          try transaction.save(Scratch.row(3, "three"))
        }
      }
      #expect(failed == .unreachable)
      let silent = code {
        try context.transaction { transaction in
          try transaction.save(Scratch.row(4, "four"))
          try scratch.endConnections()
        }
      }
      #expect(silent == .unreachable || silent == .outcomeUnknown)
      #expect(try context.texts() == ["one"])
      try context.save([Scratch.row(5, "five")])
      #expect(try context.texts() == ["one", "five"])
      try context.close()
    }

    @Test("W5 the outcome of a commit whose answer is lost is found out from the server")
    func lostCommit() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      let (first, second) = (try context.pool.take(), try context.pool.take())
      #expect(first.serverRun != nil && first.serverRun == second.serverRun)
      func number(_ end: String) throws -> String {
        let results = try first.run(
          ["BEGIN", "SELECT pg_current_xact_id()::text", end].map { PostgresCommand($0) },
          "make a transaction")
        return try #require(results[1].text(0, 0))
      }
      let (committed, aborted) = (try number("COMMIT"), try number("ROLLBACK"))
      #expect(try second.outcome(of: committed, begunIn: first.serverRun) == true)
      #expect(try second.outcome(of: aborted, begunIn: first.serverRun) == false)
      #expect(try second.outcome(of: committed, begunIn: "00000009 2001-01-01") == nil)
      try context.close()
    }

    @Test("R2 a result that holds its moment for too long throws snapshotExpired, and others go on")
    func expiry() async throws {
      let scratch = try Scratch { $0.pinTimeout = .seconds(10) }
      let context = try scratch.open()
      try context.save((1...2_000).map { Scratch.row($0, "text \($0)") })
      let results = try context.fetch(FetchRequest(Scratch.schema.get()))
      #expect(try results.read(from: 0, limit: 10) { _ in } == 10)
      try await Task.sleep(for: .seconds(11))
      #expect(code { _ = try results.read(from: 1_500, limit: 10) { _ in } } == .snapshotExpired)
      #expect(try context.texts().count == 2_000)
      try context.close()
    }

    @Test("R2 more moments than the limit throw busy, and a released one makes room")
    func pins() throws {
      let scratch = try Scratch { $0.pinLimit = 2 }
      let context = try scratch.open()
      try context.save((1...500).map { Scratch.row($0, "text") })
      var held: [any StorageSnapshot] = []
      for id in 1...2 {
        held.append(try context.snapshot())
        try context.save([Scratch.row(Int64(id), "changed")])
      }
      #expect(code { _ = try context.snapshot() } == .busy)
      held.removeFirst()
      #expect(try context.snapshot().count(FetchRequest(Scratch.schema.get())) == 500)
      try context.close()
    }

    @Test("a statement beyond the time-out throws timedOut, and the store goes on")
    func timeout() throws {
      let scratch = try Scratch()
      try scratch.open().close()
      let context = try scratch.open { $0.statementTimeout = .seconds(1) }
      let connection = try context.pool.take()
      let start = ContinuousClock.now
      #expect(code { _ = try connection.run([PostgresCommand("SELECT pg_sleep(30)")], "sleep") } == .timedOut)
      #expect(ContinuousClock.now - start < .seconds(10))
      context.pool.giveBack(connection)
      #expect(try context.catalog().isEmpty)
      try context.close()
    }

    @Test("R1 a result that fits into its first page holds no connection")
    func smallResults() throws {
      let scratch = try Scratch { $0.pinLimit = 1 }
      let context = try scratch.open()
      try context.save((1...30).map { Scratch.row($0, "text \($0)") })
      let results = try (0..<10).map { number in
        try context.save([Scratch.row(Int64(100 + number), "text")])
        return try context.fetch(FetchRequest(Scratch.schema.get(), limit: 30))
      }
      try context.close()
      for result in results { #expect(try result.read(from: 0, limit: 100) { _ in } == 30) }
    }

    @Test(
      "W4 V2 values beyond an entry of an index are indexed by their beginning, and unique by their digest")
    func longValues() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "short", tag: "t", blob: [1])])
      // Random, because the server compresses entries.
      var random = SystemRandomNumberGenerator()
      let alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
      let long = String((0..<9_000).map { _ in alphabet.randomElement(using: &random) ?? "a" })
      let blob = (0..<9_000).map { _ in UInt8.random(in: 0...255) }
      try context.save([
        Scratch.row(2, long, tag: long, blob: blob), Scratch.row(3, long + "b", tag: long + "\\"),
        Scratch.row(4, long + "a", tag: long + "\0", blob: blob + [0]),
      ])
      #expect(code { try context.save([Scratch.row(5, "x", tag: long + "\\")]) } == .uniqueViolation)
      #expect(code { try context.save([Scratch.row(5, "x", tag: "t")]) } == .uniqueViolation)
      try context.save([Scratch.row(5, "zz", tag: long + "\\\\")])
      let order = try FetchRequest(Scratch.schema.get(), order: [FieldOrder("text")])
      #expect(try context.texts(order) == [long, long + "a", long + "b", "short", "zz"].sorted())
      let equal = try FetchRequest(
        Scratch.schema.get(), where: .comparison(field: "text", .equal, .text(long + "b")))
      #expect(try context.texts(equal) == [long + "b"])
      // The catalog of another context has the new indexes.
      let other = try scratch.open()
      #expect(code { try other.save([Scratch.row(6, "x", tag: long)]) } == .uniqueViolation)
      try other.close()
      try context.close()
    }

    @Test("V7 the plan tells what the server evaluates, and what is left to the client")
    func plans() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save((1...300).map { Scratch.row($0, "text \($0)", tag: "\($0)") })
      func plan(_ predicate: PredicateNode) throws -> QueryPlan {
        try context.plan(for: FetchRequest(Scratch.schema.get(), where: predicate))
      }
      let native = PredicateNode.comparison(field: "tag", .equal, .text("7"))
      let residual = PredicateNode.text(field: "text", .matches, "^text 1.$", isCaseInsensitive: false)
      let both = try plan(.all([native, residual]))
      #expect(both.native == "tag == ?" && both.residual == "matches(text, ?)")
      #expect(try plan(.any([native, residual])).native == nil)
      #expect(try plan(.comparison(field: "id", .equal, .integer(7))).access == .primaryKey)
      let filtered = try FetchRequest(Scratch.schema.get(), where: residual, limit: 3, offset: 2)
      #expect(try context.texts(filtered) == ["text 12", "text 13", "text 14"])
      #expect(try context.count(filtered) == 3)
      try context.close()
    }

    @Test("a pooler for transactions: no statement is prepared, and no setting changed")
    func pooler() throws {
      let scratch = try Scratch { $0.pooler = .transaction }
      let context = try scratch.open()
      try context.save((1...300).map { Scratch.row($0, "text \($0)") })
      let results = try context.fetch(FetchRequest(Scratch.schema.get()))
      #expect(try results.read(from: 250, limit: 100) { _ in } == 50)
      let few = PredicateNode.comparison(field: "id", .less, .integer(10))
      #expect(try context.count(FetchRequest(Scratch.schema.get(), where: few)) == 9)
      let connection = try context.pool.take()
      let text = "SELECT count(*), current_setting('row_security') FROM pg_prepared_statements"
      let facts = try connection.run([PostgresCommand(text)], "look")
      #expect(facts.first?.integer(0, 0) == 0 && facts.first?.text(0, 1) == "on")
      try context.close()
    }

    @Test("E5 a missing database, role or store has an error of its own, and nothing is created")
    func missing() throws {
      let scratch = try Scratch()
      #expect(code { _ = try scratch.open { $0.createsMissingStore = false } } == .missingStore)
      #expect(code { _ = try scratch.open { $0.isReadOnly = true } } == .missingStore)
      let name = scratch.configuration.schema
      let schemas = try scratch.run("SELECT 1 FROM pg_namespace WHERE nspname = '\(name)'")
      #expect(schemas.first?.count == 0)
      let database = scratch.url.replacing("/postgres?", with: "/nothing?")
      #expect(code { _ = try PostgresContext(url: database) } == .missingStore)
      let role = scratch.url.replacing("user=postgres", with: "user=stranger")
      #expect(code { _ = try PostgresContext(url: role) } == .unauthorized)
    }

    @Test(
      "W5 R2 a restored backup brings numbers of commits that the server has yet to give; commits and observers go on"
    )
    func restored() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      let commits = PostgresCommits(context.store)
      _ = try commits.check()
      func restore(_ numbers: ClosedRange<Int>) throws {
        try scratch.run(
          "INSERT INTO \(scratch.schemaName).persistence_commits (xid) SELECT "
            + "(pg_current_xact_id()::text::int8 + n)::text::xid8 "
            + "FROM generate_series(\(numbers.lowerBound), \(numbers.upperBound)) AS n ON CONFLICT DO NOTHING"
        )
      }
      // Other tests use up the numbers of the same server.
      try restore(10_000_000...10_000_500)
      #expect(try !commits.check(), "restored numbers are no commits")
      try restore(1...500)
      for id in 2...20 as ClosedRange<Int64> { try context.save([Scratch.row(id, "\(id)")]) }
      #expect(try context.count(FetchRequest(Scratch.schema.get())) == 20)
      #expect(try commits.check())
      try context.close()
    }

    @Test("U1 a commit is found although greater numbers were committed and removed before it")
    func lateNumbers() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      let commits = PostgresCommits(context.store)
      let late = try PostgresConnection.open(context.store)
      try context.save([Scratch.row(1, "one")])
      for isRemoved in [false, true] {
        _ = try late.run([PostgresCommand("BEGIN"), PostgresCommits.log(context.store)], "begin")
        try context.save([Scratch.row(2, "two")])
        _ = try commits.newCommits()
        try context.save([Scratch.row(3, "three")])
        #expect(try commits.newCommits().numbers.count == 1)
        _ = try late.run([PostgresCommand("COMMIT")], "commit")
        if isRemoved {
          _ = try late.run([PostgresCommits.purge(context.store, keeping: .zero)], "remove old numbers")
        }
        let news = try commits.newCommits()
        #expect(news.isWhole == !isRemoved)
        #expect(news.numbers.count == (isRemoved ? 0 : 1))
      }
      try context.close()
    }

    @Test("W1 W4 insertions that run ahead are all added or none, and the transaction goes on")
    func together() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      let schema = try Scratch.schema.get()
      func insert(_ ids: [Int64], in transaction: any StorageTransaction) throws -> Bool {
        let rows = ids.map { Scratch.row($0, "\($0)") }
        let buffer = RowBuffer(count: schema.fields.count)
        return try transaction.insertTogether(rows.count, in: schema) { position, body in
          buffer.set(rows[position])
          try buffer.withRow(body)
        }
      }
      try context.transaction { transaction in
        try transaction.define(schema)
        #expect(try insert(Array(1...1_000), in: transaction))
        #expect(try !insert(Array(1_001...1_300) + [500], in: transaction), "one key exists")
        #expect(try transaction.count(FetchRequest(schema)) == 1_000)
        #expect(try !insert([2_001, 2_002, 2_003, 2_004, 2_001], in: transaction), "two rows have one key")
        #expect(try insert([2_001, 2_002, 2_003, 2_004, 2_005], in: transaction))
        #expect(try transaction.count(FetchRequest(schema)) == 1_005)
      }
      #expect(try context.count(FetchRequest(schema)) == 1_005)
      #expect(throws: PersistenceError.self) {
        try context.transaction { transaction in
          let pipeline = try #require(transaction as? any PipelinedTransaction)
          let buffer = RowBuffer(count: schema.fields.count)
          for id in [7_000, 1] as [Int64] {
            buffer.set(Scratch.row(id, "unasked"))
            try buffer.withRow { try pipeline.insertAhead($0, in: schema) }
          }
        }
      }
      #expect(try context.count(FetchRequest(schema)) == 1_005, "a refusal that nobody asked for")
      try context.close()
    }

    @Test("a restored copy is another store, although its identity is the same")
    func copies() throws {
      let (first, second) = (try Scratch(), try Scratch())
      let context = try first.open()
      try second.open().close()
      try second.run(
        "UPDATE \(second.schemaName).persistence_state SET store = "
          + "(SELECT store FROM \(first.schemaName).persistence_state)")
      let copy = try second.open()
      let again = try first.open()
      #expect(context.shared !== copy.shared)
      #expect(context.shared === again.shared)
      for context in [context, copy, again] { try context.close() }
    }

    @Test("R2 a result whose transaction the server has ended for its idleness throws snapshotExpired")
    func idleTransactions() throws {
      let scratch = try Scratch()
      let name = scratch.schemaName
      try scratch.run(
        "CREATE ROLE \(name) SUPERUSER LOGIN",
        "ALTER ROLE \(name) SET idle_in_transaction_session_timeout = '300ms'")
      let url = scratch.url.replacing("user=postgres", with: "user=\(scratch.configuration.schema)")
      let context = try PostgresContext(url: url, configuration: scratch.configuration)
      try context.save((1...3_000).map { Scratch.row($0, "\($0)") })
      let results = try context.fetch(FetchRequest(Scratch.schema.get()))
      #expect(try results.read(from: 0, limit: 10) { _ in } == 10)
      Thread.sleep(forTimeInterval: 1.5)
      #expect(code { _ = try results.read(from: 2_000, limit: 10) { _ in } } == .snapshotExpired)
      // Others go on.
      #expect(try context.count(FetchRequest(Scratch.schema.get())) == 3_000)
      let snapshot = try context.snapshot()
      Thread.sleep(forTimeInterval: 1.5)
      // The store is as it was, but the connection of that moment has gone.
      #expect(try context.snapshot().count(FetchRequest(Scratch.schema.get())) == 3_000)
      #expect(code { _ = try snapshot.count(FetchRequest(Scratch.schema.get())) } == .snapshotExpired)
      try context.close()
      try scratch.run("DROP OWNED BY \(name) CASCADE", "DROP ROLE \(name)")
    }

    @Test("V3 W1 a save replaces no other record of a store to which another program has added an index")
    func addedIndex() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      let schema = try ModelSchema(
        name: "Word", fields: [FieldSchema("text", .string), FieldSchema("n", .int64)], key: ["text"])
      try context.transaction { transaction in
        try transaction.define(schema)
        try transaction.save([.text("abc"), .integer(1)], in: schema)
      }
      let name = scratch.schemaName
      try scratch.run(
        "CREATE COLLATION \(name).anycase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "CREATE UNIQUE INDEX added ON \(name).\"Word\" (text COLLATE \(name).anycase)")
      let other: [PersistentValue] = [.text("ABC"), .integer(2)]
      #expect(code { try context.transaction { try $0.save(other, in: schema) } } != nil)
      #expect(try context.values(FetchRequest(schema)) == [[.text("abc"), .integer(1)]])
      try context.transaction { try $0.save([.text("abc"), .integer(3)], in: schema) }
      #expect(try context.values(FetchRequest(schema)) == [[.text("abc"), .integer(3)]])
      try context.close()
    }

    @Test("a time without an end is none that the server refuses")
    func endlessTimes() throws {
      let scratch = try Scratch()
      let endless = Duration.seconds(Int64.max)
      let context = try scratch.open {
        ($0.busyTimeout, $0.connectTimeout, $0.pinTimeout) = (endless, endless, endless)
        $0.statementTimeout = endless
      }
      try context.save((1...300).map { Scratch.row($0, "\($0)") })
      let results = try context.fetch(FetchRequest(Scratch.schema.get()))
      #expect(try results.read(from: 290, limit: 20) { _ in } == 10)
      try context.close()
    }

    @Test("W7 an update whose values would make a record too long to be read is refused, and changes nothing")
    func longUpdates() throws {
      let context = try Scratch().open()
      let schema = try ModelSchema(
        name: "Long", fields: [FieldSchema("id", .int64), FieldSchema("a", .data), FieldSchema("b", .data)],
        key: ["id"])
      // Two values of 300 MiB take 3 GiB of memory, so the short form has a record that is not too long.
      let (isLong, size) = (Environment.isSoak, Environment.isSoak ? 300 << 20 : 70 << 20)
      try context.transaction { transaction in
        try transaction.define(schema)
        let first = [UInt8](repeating: 7, count: isLong ? size : 1)
        try transaction.save([.integer(1), .bytes(first), .bytes([])], in: schema)
      }
      let values = PersistentValue.bytes([UInt8](repeating: 8, count: size))
      let update = try UpdateRequest(FetchRequest(schema), set: [FieldAssignment("b", values)])
      #expect(update.assignsLongValues)
      let short = try UpdateRequest(FetchRequest(schema), set: [FieldAssignment("b", .bytes([1]))])
      #expect(!short.assignsLongValues)
      let refusal = code { try context.transaction { _ = try $0.update(update) } }
      #expect(refusal == (isLong ? .valueTooLarge : nil))
      #expect(try context.record([.integer(1)], in: schema)?[2] == (isLong ? .bytes([]) : values))
      try context.close()
    }

    @Test("the options of a URL override the configuration, and unknown ones throw invalidURL")
    func urlOptions() throws {
      let scratch = try Scratch()
      let schema = scratch.configuration.schema
      let context = try PostgresContext(url: scratch.url + "&schema=\(schema)&readonly=false&busy=3s")
      #expect(context.store.configuration.schema == schema)
      #expect(context.store.configuration.busyTimeout == .seconds(3))
      #expect(context.location.hasSuffix("?schema=\(schema)"))
      try context.close()
      #expect(code { _ = try PostgresContext(url: scratch.url + "&shema=\(schema)") } == .invalidURL)
      #expect(code { _ = try PostgresContext(url: "sqlite:/tmp/x") } == .invalidURL)
    }

    @Test("tables, views and triggers of other programs are listed, and not touched")
    func unmapped() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      let name = scratch.schemaName
      try scratch.run(
        "CREATE TABLE \(name).other (id int8)",
        "CREATE VIEW \(name).seen AS SELECT text FROM \(name).\"Note\"")
      let objects = try context.unmappedObjects()
      #expect(objects.map(\.name) == ["other", "seen"])
      #expect(objects.map(\.kind) == [.table, .view])
      try context.close()
    }
  }
#endif
