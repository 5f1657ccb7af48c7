#if Postgres
  import Foundation
  import OurContexts
  import PersistenceDriver
  import PersistenceDriverSupport
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// Reads from a standby.
  @Suite(.withPrograms, .serialized) struct ReplicaTests {
    private func request(_ limit: Int? = nil) throws -> FetchRequest {
      try FetchRequest(Scratch.schema.get(), limit: limit)
    }

    private func find(_ id: Int64, in reader: any StorageReader) throws -> Bool {
      try reader.find(RecordKey([.integer(id)]), in: Scratch.schema.get()) { _ in }
    }

    /// Opens a store with notes, so that its next reads go to the standby.
    private func open(_ server: ReplicatedServer, _ schema: String = "test", notes: Int64 = 1) throws
      -> PostgresContext
    {
      let context = try server.open(schema)
      try context.save((1...notes).map { Scratch.row($0, "note") })
      #expect(try countOnStandby(context) == Int(notes))
      #expect(try server.isRead())
      return context
    }

    /// Fetches notes from the standby, when the context uses it again.
    private func fetchFromStandby(_ context: PostgresContext) throws -> PostgresResults {
      var results: PostgresResults?
      try eventually("the context reads from the standby") {
        results = try context.replicas?.attempt { try $0.results(request(), selecting: nil) }
        return results != nil
      }
      return try #require(results)
    }

    private func countOnStandby(_ context: PostgresContext) throws -> Int {
      try fetchFromStandby(context).count()
    }

    @Test("E4 a standby that lags behind does not hide that a copy into the store is unfinished")
    func unfinishedCopy() throws {
      let server = try ReplicatedServer.shared.get()
      let writer = try open(server, "unfinished")
      defer { server.resumeReplay() }
      try server.pauseReplay()
      let ledger = try ModelSchema(
        name: ReservedModel.fillLedger, fields: [FieldSchema("model", .string)], key: ["model"])
      try writer.transaction { transaction in
        try transaction.define(ledger)
        try transaction.insert([.text("Note")], in: ledger)
      }
      let reader = try server.open("unfinished", isReadOnly: true)
      #expect(code { try reader.requireComplete() } == .incompleteStore)
      for context in [reader, writer] { try context.close() }
    }

    @Test("E4 a standby that lags behind does not show a part of a copy that was finished before the opening")
    func finishedCopy() throws {
      let server = try ReplicatedServer.shared.get()
      let writer = try open(server, "finished")
      defer { server.resumeReplay() }
      try server.pauseReplay()
      try writer.save([Scratch.row(2, "two")])
      let reader = try server.open("finished", isReadOnly: true)
      #expect(reader.isKnownComplete)
      #expect(try reader.texts() == ["note", "two"])
      for context in [reader, writer] { try context.close() }
    }

    @Test("reads go to a standby, and to the primary server inside of transactions and for observers")
    func reads() throws {
      let server = try ReplicatedServer.shared.get()
      let context = try open(server, "reads")
      let other = try server.openPrimary("reads")
      defer { server.resumeReplay() }
      try server.pauseReplay()
      try other.save([Scratch.row(2, "two")])
      // The standby lacks the second note, which shows who answers.
      #expect(try context.count(request()) == 1)
      #expect(try context.texts() == ["note"])
      #expect(try !find(2, in: context))
      let total = try context.aggregate(AggregateRequest(request(), aggregates: [.count]))
      #expect(total.first?.values == [.integer(1)])
      #expect(try context.snapshot().count(request()) == 1)
      #expect(try other.count(request()) == 2, "a context without the option reads from the primary server")
      try context.transaction { transaction in
        let (count, isThere) = (try transaction.count(request()), try find(2, in: transaction))
        #expect(count == 2 && isThere)
      }
      let observer = try CommitObserver(request(), in: context, keyLimit: 10)
      try context.observers.add(observer)
      #expect(try context.observers.look(observer, at: context).snapshot.count(request()) == 2)
      context.observers.remove(observer)
      // The transaction and the observer have seen the note, so later reads must.
      #expect(try context.texts() == ["note", "two"])
      try other.close()
      try context.close()
    }

    @Test("C2 a read sees the commits of its own context at once", arguments: ["on", "off"])
    func ownCommits(_ synchronous: String) throws {
      let server = try ReplicatedServer.shared.get()
      try server.run(.primary, "ALTER ROLE postgres SET synchronous_commit = \(synchronous)")
      defer {
        server.resumeReplay()
        _ = try? server.run(.primary, "ALTER ROLE postgres RESET synchronous_commit")
      }
      let context = try open(server, "commits_\(synchronous)")
      for id in Int64(2)...201 {
        try context.save([Scratch.row(id, "note")])
        switch id % 3 {
        case 0: #expect(try find(id, in: context))
        case 1: #expect(try context.count(request()) == Int(id))
        default: #expect(try context.snapshot().count(request()) == Int(id))
        }
      }
      // A standby that stands still shows no new commit, so the primary server answers.
      try server.pauseReplay()
      for id in Int64(202)...204 {
        try context.save([Scratch.row(id, "note")])
        #expect(try find(id, in: context))
      }
      try context.close()
    }

    /// How a transaction fails after its closure has read.
    enum Failure: CaseIterable {
      /// The connection is lost, and the closure notices it.
      case lostInClosure
      /// The connection is lost, and the commit notices it.
      case lostBeforeCommit
      /// The server refuses the commit.
      case refusedCommit
    }

    @Test(
      "C2 a read shows what a failed transaction of its own context has read", arguments: Failure.allCases)
    func failedTransactions(_ failure: Failure) throws {
      let server = try ReplicatedServer.shared.get()
      let schema = "failed_\(failure)".lowercased()
      let context = try open(server, schema)
      let other = try server.openPrimary(schema)
      try server.run(
        .primary,
        "CREATE FUNCTION \(schema).refuse() RETURNS trigger LANGUAGE plpgsql AS "
          + "'BEGIN RAISE EXCEPTION ''refused''; END'",
        "CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON \(schema).\"Note\" DEFERRABLE INITIALLY DEFERRED "
          + "FOR EACH ROW WHEN (NEW.id > 100) EXECUTE FUNCTION \(schema).refuse()")
      try server.catchUp()
      defer { server.resumeReplay() }
      try server.pauseReplay()
      try other.save([Scratch.row(2, "two")])
      #expect(try context.texts() == ["note"])
      let failed = code {
        try context.transaction { transaction in
          #expect(try transaction.count(request()) == 2)
          if failure != .refusedCommit {
            try server.run(
              .primary,
              "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                + "WHERE application_name = 'reader' AND state = 'idle in transaction'")
          }
          if failure == .lostInClosure { _ = try transaction.count(request()) }
          try transaction.save(Scratch.row(101, "refused"))
        }
      }
      #expect(failed != nil)
      #expect(try context.texts() == ["note", "two"])
      try other.close()
      try context.close()
    }

    @Test("reads go to the primary server while the replay at the standby keeps a table locked")
    func lockedTable() throws {
      let server = try ReplicatedServer.shared.get()
      let context = try open(server, "locked")
      let writer = try server.connect(.primary)
      let lock = PostgresCommand("LOCK TABLE locked.\"Note\" IN ACCESS EXCLUSIVE MODE")
      _ = try writer.run([PostgresCommand("BEGIN"), lock], "lock a table")
      // The log is flushed up to its switch.
      try server.run(.primary, "SELECT pg_switch_wal()")
      try eventually("the standby locks the table") {
        let locks = "SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = "
        return try server.run(.standby, locks + "'locked.\"Note\"'::regclass")?.count == 1
      }
      defer { server.resumeReplay() }
      try server.pauseReplay()
      _ = try writer.run([PostgresCommand("COMMIT")], "unlock a table")
      #expect(try context.replicas?.attempt { try $0.results(request(), selecting: nil) } == nil)
      #expect(try context.texts() == ["note"])
      try context.close()
    }

    @Test("a standby that freezes delays the read after a commit for a moment")
    func frozenStandby() throws {
      let server = try ReplicatedServer.shared.get()
      let context = try open(server, "frozen")
      let found = try #require(
        try server.run(.standby, "SELECT pid::int8 FROM pg_stat_activity WHERE application_name = 'reader'"))
      let processes = (0..<found.count).compactMap { found.integer($0, 0).flatMap(pid_t.init(exactly:)) }
      defer { for process in processes { kill(process, SIGCONT) } }
      try context.save([Scratch.row(2, "two")])
      for process in processes { kill(process, SIGSTOP) }
      let start = ContinuousClock.now
      #expect(try context.texts() == ["note", "two"])
      #expect(start.duration(to: .now) < .seconds(10))
      try context.close()
    }

    @Test("a server that does not answer leaves the next one a share of the time to connect")
    func frozenServer() throws {
      let server = try ReplicatedServer.shared.get()
      let context = try open(server, "share")
      defer { try? server.signal(SIGCONT, .primary) }
      try server.signal(SIGSTOP, .primary)
      context.replicas?.pool.discardIdle()
      #expect(try countOnStandby(context) == 1)
      try server.signal(SIGCONT, .primary)
      try context.close()
    }

    @Test("C2 a read sees the deletion that its context made, also of what an open result shows")
    func deletions() throws {
      let server = try ReplicatedServer.shared.get()
      let context = try open(server, "deletions", notes: 3000)
      let result = try fetchFromStandby(context)
      #expect(try result.read(from: 0, limit: 10) { _ in } == 10)
      try context.transaction { _ = try $0.delete(RecordKey([.integer(1)]), in: Scratch.schema.get()) }
      #expect(try !find(1, in: context))
      #expect(try context.count(request()) == 2999)
      #expect(try countOnStandby(context) == 2999)
      #expect(try result.count() == 3000)
      try context.close()
    }

    @Test("R2 results on a standby show different moments, although it writes both alike")
    func moments() throws {
      let server = try ReplicatedServer.shared.get()
      let context = try open(server, "moments", notes: 3000)
      let writers = try (1...3).map { number in
        let writer = try server.connect(.primary)
        _ = try writer.run(
          [
            PostgresCommand("BEGIN"),
            PostgresCommand("INSERT INTO moments.\"Note\" (id, text) VALUES (\(number + 5000), 'new')"),
          ], "write")
        return writer
      }
      func commit(_ number: Int) throws {
        _ = try writers[number].run([PostgresCommand("COMMIT")], "commit")
        try server.catchUp()
      }
      // The first one stays open, and the last one is the newest.
      try commit(2)
      let first = try fetchFromStandby(context)
      try commit(1)
      let second = try fetchFromStandby(context)
      for (result, count) in [(first, 3001), (second, 3002)] {
        #expect(try result.read(from: 0, limit: .max) { _ in } == count)
        #expect(try result.count() == count)
      }
      try context.close()
    }

    @Test("R2 a result whose moment the standby gives up throws snapshotExpired, and a new one is read")
    func conflicts() throws {
      let server = try ReplicatedServer(settings: "max_standby_streaming_delay = 0")
      let context = try open(server, notes: 5000)
      let result = try context.fetch(request())
      #expect(try result.read(from: 0, limit: 10) { _ in } == 10)
      try server.run(.primary, "DELETE FROM test.\"Note\" WHERE id > 10", "VACUUM test.\"Note\"")
      try server.catchUp()
      #expect(code { _ = try result.read(from: 4000, limit: 10) { _ in } } == .snapshotExpired)
      #expect(code { _ = try result.read(from: 4000, limit: 10) { _ in } } == .snapshotExpired)
      #expect(try context.texts().count == 10)
      try context.close()
    }

    @Test("reads go on without the standby, and return to it")
    func lostStandby() throws {
      let server = try ReplicatedServer()
      let context = try open(server, notes: 3000)
      let result = try context.fetch(request())
      #expect(try result.read(from: 0, limit: 10) { _ in } == 10)
      try server.kill(.standby)
      #expect(try find(1, in: context))
      #expect(try context.count(request()) == 3000)
      #expect(code { _ = try result.read(from: 2000, limit: 10) { _ in } } == .unreachable)
      try context.save([Scratch.row(3001, "note")])
      #expect(try context.count(request()) == 3001)
      try server.start(.standby)
      try eventually("the standby is used again") {
        #expect(try context.count(request()) == 3001)
        return try server.isRead()
      }
      try context.close()
    }

    @Test("reads go on at the standby while the primary server is gone")
    func lostPrimary() throws {
      let server = try ReplicatedServer()
      let context = try open(server)
      let observer = try CommitObserver(request(), in: context, keyLimit: 10)
      try context.observers.add(observer)
      #expect(try context.texts() == ["note"])
      try server.kill(.primary)
      // A look that fails has shown nothing.
      #expect(code { _ = try context.observers.look(observer, at: context) } != nil)
      context.observers.remove(observer)
      #expect(try context.texts() == ["note"])
      #expect(code { try context.save([Scratch.row(2, "two")]) } != nil)
      try server.promote()
      try eventually("the promoted server takes writes") {
        (try? context.save([Scratch.row(2, "two")])) != nil
      }
      #expect(try context.texts() == ["note", "two"])
      try context.close()
    }

    @Test("a server that is no standby is not read as one")
    func noStandby() throws {
      let server = try ReplicatedServer()
      try server.promote()
      // The former standby is a server of its own now, and would answer without the note.
      let context = try server.open()
      try context.save([Scratch.row(1, "one")])
      #expect(try context.texts() == ["one"])
      // The server ends the refused connection in its own time; one that reads would stay.
      try eventually("the refused connection has ended") { try !server.isRead() }
      try context.close()
    }
  }
#endif
