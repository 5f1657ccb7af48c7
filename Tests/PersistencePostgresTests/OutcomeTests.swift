#if Postgres
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
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
