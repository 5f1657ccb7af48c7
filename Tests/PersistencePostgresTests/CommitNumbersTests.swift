#if Postgres
  import PersistenceDriver
  import PersistenceDriverSupport
  import Testing

  @testable import PersistencePostgres

  /// How the numbers of commits are written, looked for and removed.
  @Suite(.withServer) struct CommitNumbersTests {
    /// Requires that a check was executed by a plan that serves every moment, and reads the index of a small table.
    private func expectSharedPlan(_ name: String, _ run: (String) throws -> PostgresResult) throws {
      let plans = try run(
        "SELECT generic_plans, custom_plans FROM pg_catalog.pg_prepared_statements WHERE name = '\(name)'")
      try #require(plans.count == 1)
      let (generic, custom) = (try #require(plans.integer(0, 0)), try #require(plans.integer(0, 1)))
      #expect(generic >= 5 && custom <= 5)
      let lines = try run("EXPLAIN EXECUTE \"\(name)\"('1:1:')")
      let plan = (0..<lines.count).map { lines.text($0, 0) ?? "" }
      #expect(plan.contains { $0.contains("Scan") && $0.contains("persistence_commits") })
      #expect(!plan.contains { $0.contains("Seq Scan") }, "\(plan)")
    }

    /// Makes the server know that the table has one page, which it prefers to read whole.
    private func analyze(_ scratch: Scratch) throws {
      try scratch.run("VACUUM ANALYZE \(scratch.schemaName).persistence_commits")
    }

    @Test(
      "U1 all checks of a connection share one plan, which uses the index of a small table",
      arguments: [0, 40_000])
    func plans(_ numbers: Int) throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      if numbers > 0 {
        // The server has not given them yet, so no moment has them.
        try scratch.run(
          "INSERT INTO \(scratch.schemaName).persistence_commits (xid) "
            + "SELECT (1000000000 + n)::text::xid8 FROM generate_series(1, \(numbers)) AS n")
      }
      try analyze(scratch)
      let connection = try PostgresCommits.connect(context.store)
      // A plan for each moment seems cheap, as it does without this setting if there are 600,000 numbers.
      _ = try connection.run([PostgresCommand("SET cpu_operator_cost = 0.0001")], "change a setting")
      let commits = PostgresCommits(context.store)
      for _ in 0..<10 {
        let check = commits.check(since: "3:3:", connection)
        let result = try #require(try connection.run([check], "look for commits").first)
        #expect(result.text(0, 1)?.isEmpty == false)
      }
      let name = connection.serverRun == nil ? "persistence_-19" : "persistence_-20"
      try expectSharedPlan(name) { try #require(try connection.run([PostgresCommand($0)], "explain").first) }
      try context.close()
    }

    @Test(
      "U1 R2 the checks of a snapshot share one plan too, and leave the settings of its reads as they are")
    func plansOfSnapshots() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      try analyze(scratch)
      let commits = PostgresCommits(context.store)
      _ = try commits.newCommits()
      try context.save([Scratch.row(2, "two")])
      let snapshot = try context.snapshot()
      for round in 0..<10 {
        let news = try #require(try commits.newCommits(seenBy: snapshot))
        #expect(news.isWhole && news.numbers.count == (round == 0 ? 1 : 0))
      }
      try #require(snapshot as? PostgresSnapshot).withSession { session in
        let name = session.connection.serverRun == nil ? "persistence_-19" : "persistence_-20"
        let setting = try session.run(PostgresCommand("SHOW enable_seqscan"), "read a setting")
        #expect(setting.text(0, 0) == "on")
        // The server may have vacuumed the table since. It then makes the plan anew, with the settings of the moment.
        _ = try session.run(PostgresCommand("SET LOCAL enable_seqscan = off"), "change a setting")
        try expectSharedPlan(name) { try session.run(PostgresCommand($0), "explain") }
      }
      try context.close()
    }

    @Test("U1 the numbers of a transaction and of its moment are those that the server writes as text")
    func binaryNumbers() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      let (open, other) = try (
        PostgresConnection.open(context.store), PostgresConnection.open(context.store)
      )
      func results(_ connection: PostgresConnection, _ commands: PostgresCommand...) throws
        -> [PostgresResult]
      {
        try connection.run(commands, "run a test's statement")
      }
      let begin = PostgresCommand("BEGIN ISOLATION LEVEL REPEATABLE READ")
      let first = try results(open, begin, PostgresCommand("SELECT pg_current_xact_id()::text"))[1].text(0, 0)
      // A later transaction ends first, so that the open one is in the moments of others.
      try context.save([Scratch.row(1, "one")])
      for mayBeRefused in [false, true] {
        let log = PostgresCommits.log(context.store, withMoment: true, mayBeRefused: mayBeRefused)
        let texts = PostgresCommand(
          "SELECT pg_current_xact_id()::text, pg_current_snapshot()::text, "
            + "pg_snapshot_xmax(pg_current_snapshot())::text")
        let all = try results(other, begin, log, texts, .rollback)
        let number = try #require(all[1].transactionNumber(0, 0))
        #expect(all[2].text(0, 0) == "\(number)")
        let moment = try #require(all[1].bytes(0, 1))
        let transaction = try NumberedTransaction(number, moment: moment)
        let openNumber = try #require(first.flatMap { UInt64($0) })
        let end = try #require(all[2].text(0, 2).flatMap { UInt64($0) })
        let open = try #require(all[2].text(0, 1)?.split(separator: ":").last)
        let listed = Set(open.split(separator: ",").compactMap { UInt64($0) })
        #expect(listed.contains(openNumber))
        for one in openNumber...end {
          #expect(transaction.sees(one) == (one < end && !listed.contains(one)), "\(one)")
        }
      }
      let plain = try results(other, begin, PostgresCommits.log(context.store), .rollback)
      #expect(plain[1].transactionNumber(0, 0) != nil && plain[1].bytes(0, 1) == nil)
      #expect(try results(other, PostgresCommand("SELECT 1::int4"))[0].transactionNumber(0, 0) == nil)
      try context.close()
    }

    @Test("U1 one removal takes a limited number of the oldest, and only old ones")
    func limitedPurge() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      for id in 1...8 as ClosedRange<Int64> { try context.save([Scratch.row(id, "\(id)")]) }
      let connection = try PostgresConnection.open(context.store)
      let commits = "\(scratch.schemaName).persistence_commits"
      func numbers() throws -> [String] {
        try connection.run(
          [PostgresCommand("SELECT xid::text FROM \(commits) WHERE xid > '1' ORDER BY xid")], "read"
        )
        .first.map { rows in (0..<rows.count).compactMap { rows.text($0, 0) } } ?? []
      }
      let all = try numbers()
      let young = PostgresCommits.purge(context.store, keeping: .seconds(3600), atMost: 3)
      _ = try connection.run([young], "remove old numbers")
      #expect(try numbers() == all)
      let old = PostgresCommits.purge(context.store, keeping: .zero, atMost: 3)
      _ = try connection.run([old], "remove old numbers")
      #expect(try numbers() == Array(all.dropFirst(3)))
      _ = try connection.run([old], "remove old numbers")
      #expect(try numbers() == Array(all.dropFirst(6)))
      _ = try connection.run([PostgresCommits.purge(context.store, keeping: .zero)], "remove old numbers")
      #expect(try numbers() == Array(all.suffix(1)))
      try context.close()
    }

    @Test("U1 old numbers are removed after the first commit of a context, and at most every ten seconds")
    func purges() throws {
      let scratch = try Scratch()
      func count() throws -> Int64? {
        try scratch.run("SELECT count(*) FROM \(scratch.schemaName).persistence_commits WHERE xid > '1'")
          .first?.integer(0, 0)
      }
      func fill() throws {
        let context = try scratch.open()
        try context.save([Scratch.row(1, "one")])
        let now = ContinuousClock.now
        #expect(!context.store.beginsPurge(at: now + .seconds(9)))
        #expect(context.store.beginsPurge(at: now + .seconds(11)))
        #expect(!context.store.beginsPurge(at: now + .seconds(20)))
        #expect(context.store.beginsPurge(at: now + .seconds(22)))
        for id in 2...5 as ClosedRange<Int64> { try context.save([Scratch.row(id, "\(id)")]) }
        try context.close()
      }
      try fill()
      try scratch.run(
        "UPDATE \(scratch.schemaName).persistence_commits SET at = at - interval '1 hour'")
      #expect(try count().map { $0 >= 5 } == true)
      let context = try scratch.open()
      try context.save([Scratch.row(6, "six")])
      try eventually("the old numbers are removed but for the greatest") { try count() == 2 }
      #expect(try context.texts().count == 6)
      try context.close()
    }

    @Test(
      "W1 values that take no bytes, NULL, and statements without parameters reach the server as they are")
    func emptyParameters() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      let connection = try PostgresConnection.open(context.store)
      var (null, both, empty) = (PostgresParameters(), PostgresParameters(), PostgresParameters())
      null.addNull(PostgresType.text)
      both.addNull(PostgresType.text)
      both.add(text: "")
      empty.add(text: "")
      #expect([PostgresParameters(), null, empty].allSatisfy { $0.byteCount <= 1 })
      for prepared in [nil, 1, 1] as [Int?] {
        func command(_ sql: String, _ number: Int, _ parameters: PostgresParameters) -> PostgresCommand {
          PostgresCommand(sql, prepared: prepared.map { $0 + number }, parameters)
        }
        let results = try connection.run(
          [
            command("SELECT $1::text IS NULL", 1000, null),
            command("SELECT $1::text IS NULL AND $2::text = ''", 10_000, both),
            command("SELECT $1::text = ''", 100_000, empty),
            command("SELECT true", 1_000_000, PostgresParameters()),
            command("SELECT $1::text IS NULL", 1000, null),
          ], "run a test's statements")
        #expect(results.map { $0.integer(0, 0) } == [1, 1, 1, 1, 1])
      }
      let names = try connection.run(
        [PostgresCommand("SELECT count(*) FROM pg_catalog.pg_prepared_statements")], "count statements")
      #expect(names.first?.integer(0, 0) == 4)
      try context.close()
    }

    @Test("W1 hundreds of values of one statement reach the server in order, NULL, text and numbers alike")
    func manyParameters() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      let connection = try PostgresConnection.open(context.store)
      // Too small a room grows.
      for hasRoom in [true, false] {
        let (count, bytes) = hasRoom ? (900, 9_000) : (1, 1)
        var parameters = PostgresParameters(count: count, byteCount: bytes)
        var conditions: [String] = []
        for number in 0..<300 {
          let place = 3 * number
          parameters.add(Int64(number))
          parameters.add(text: "text \(number)")
          parameters.addNull(PostgresType.text)
          conditions.append("$\(place + 1)::int8 = \(number) AND $\(place + 2)::text = 'text \(number)'")
          conditions.append("$\(place + 3)::text IS NULL")
        }
        #expect(parameters.count == 900)
        let command = PostgresCommand("SELECT \(conditions.joined(separator: " AND "))", parameters)
        let results = try connection.run([command], "run a test's statement")
        #expect(results.first?.integer(0, 0) == 1)
      }
      try context.close()
    }
  }
#endif
