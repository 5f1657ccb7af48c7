#if Postgres
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// What a transaction tells that ended badly.
  @Suite(.withServer) struct OutcomeTests {
    @Test(
      "W5 a commit whose statements the server has refused is known to be rolled back",
      arguments: [
        ("RAISE EXCEPTION USING ERRCODE = '57014'", PersistenceError.Code.timedOut),
        ("PERFORM pg_terminate_backend(pg_backend_pid()), pg_sleep(5)", .unreachable),
      ])
    func refusedCommits(_ statement: String, _ expected: PersistenceError.Code) throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      let name = scratch.schemaName
      try scratch.run(
        "CREATE FUNCTION \(name).refuse() RETURNS trigger LANGUAGE plpgsql AS "
          + "$$ BEGIN \(statement); RETURN NEW; END $$",
        "CREATE TRIGGER refuse BEFORE INSERT ON \(name).persistence_commits "
          + "FOR EACH ROW EXECUTE FUNCTION \(name).refuse()")
      #expect(code { try context.save([Scratch.row(2, "two")]) } == expected)
      #expect(try context.texts() == ["one"])
      try scratch.run("DROP TRIGGER refuse ON \(name).persistence_commits")
      try context.save([Scratch.row(3, "three")])
      #expect(try context.texts() == ["one", "three"])
      try context.close()
    }

    @Test("R5 W3 an interrupted read leaves the transaction around it as it was")
    func interruptedReads() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      let request = try FetchRequest(Scratch.schema.get())
      for (id, mode) in [(2, TransactionMode.exclusive), (4, .replayable)] as [(Int64, TransactionMode)] {
        try context.transaction(mode) { transaction in
          try transaction.save(Scratch.row(id, "\(id)"))
          let count = try transaction.count(request)
          let results = try transaction.fetch(request)
          #expect(try results.read(from: 0, limit: 1) { _ in } == 1)
          for isCount in [true, false] {
            let interruption = ReadInterruption(
              atCheck: 1, PersistenceError(.cancelled, "the caller has gone"))
            let interrupted = code {
              try interruption.run {
                if isCount {
                  _ = try transaction.count(request)
                } else {
                  _ = try transaction.find(RecordKey([.integer(1)]), in: request.schema) { _ in }
                }
              }
            }
            #expect(interrupted == .cancelled)
          }
          #expect(try results.read(from: 0, limit: 10) { _ in } == count)
          try transaction.save(Scratch.row(id + 1, "\(id + 1)"))
        }
      }
      #expect(try context.texts() == ["one", "2", "3", "4", "5"])
      try context.close()
    }

    @Test("W3 E2 a write in a transaction that the server has ended for its idleness throws unreachable")
    func idleWriters() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      let failed = code {
        try context.transaction { transaction in
          let session = try #require(transaction as? PostgresTransaction).session
          try session.run(
            PostgresCommand("SET LOCAL idle_in_transaction_session_timeout = 50"), "limit the idle time")
          Thread.sleep(forTimeInterval: 0.3)
          try transaction.save(Scratch.row(2, "two"))
        }
      }
      #expect(failed == .unreachable)
      #expect(try context.texts() == ["one"])
      try context.close()
    }
  }
#endif
