#if Postgres
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// Connections that return to the pool, or must not.
  @Suite(.withServer) struct ConnectionTests {
    @Test("W3 R4 the end of a failed transaction does not fail, however many statements are prepared")
    func manyPreparedStatements() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      let connection = try context.pool.take()
      let many = (0..<450).map { PostgresCommand("SELECT \($0)", prepared: 100_000 + $0) }
      let failing = [PostgresCommand("BEGIN")] + many + [PostgresCommand("SELECT 1 / 0")]
      #expect(code { _ = try connection.run(failing, "fail") } == .engineFailure)
      _ = try connection.run([PostgresCommand("ROLLBACK")], "end a transaction")
      _ = try connection.run(many, "prepare statements once more")
      #expect(!connection.isBroken)
      context.pool.giveBack(connection)
      try context.close()
    }

    @Test(
      "W3 a connection whose prepared statements are not those that are known does not return to the pool")
    func foreignStatements() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      let connection = try context.pool.take()
      _ = try connection.run([PostgresCommand("PREPARE persistence_100000 AS SELECT 1")], "prepare")
      let failed = code {
        _ = try connection.run([PostgresCommand("SELECT 2", prepared: 100_000)], "run a statement")
      }
      #expect(failed == .engineFailure)
      #expect(connection.isBroken)
      context.pool.giveBack(connection)
      try context.save([Scratch.row(1, "one")])
      #expect(try context.texts() == ["one"])
      try context.close()
    }

    @Test("V2 bytes in clauses without parameters do not depend on standard_conforming_strings")
    func literals() throws {
      let scratch = try Scratch()
      let literal = PostgresLiteral.text(of: .bytes([0x41, 0x42, 0, 0xFF]))
      for value in ["on", "off"] {
        let results = try scratch.run(
          "SET standard_conforming_strings = \(value)", "SELECT encode(\(literal), 'hex')")
        #expect(results.last?.text(0, 0) == "414200ff")
      }
    }

    @Test("W3 C2 two openings at once create one store, whatever isolation the server is set to")
    func concurrentCreation() throws {
      let scratch = try Scratch()
      let name = scratch.schemaName
      try scratch.run(
        "CREATE ROLE \(name) SUPERUSER LOGIN",
        "ALTER ROLE \(name) SET default_transaction_isolation = 'repeatable read'")
      let url = scratch.url.replacing("user=postgres", with: "user=\(scratch.configuration.schema)")
      let configuration = scratch.configuration
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        #expect(throws: Never.self) {
          try PostgresContext(url: url, configuration: configuration).close()
        }
      }
      let states = try scratch.run("SELECT 1 FROM \(name).persistence_state")
      #expect(states.first?.count == 1)
      #expect(throws: PersistenceError.self, "a second row") {
        try scratch.run("INSERT INTO \(name).persistence_state SELECT * FROM \(name).persistence_state")
      }
      try scratch.run("DROP OWNED BY \(name) CASCADE", "DROP ROLE \(name)")
    }

    @Test("U1 C1 an observer that waits for a table keeps no commit waiting")
    func observersAndLocks() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      let other = try ModelSchema(name: "Other", fields: [FieldSchema("id", .int64)], key: ["id"])
      let observer = try CommitObserver(FetchRequest(Scratch.schema.get()), in: context, keyLimit: 10)
      try context.observers.add(observer)
      let blocker = try context.pool.take()
      let table = "\(scratch.schemaName).\"Note\""
      _ = try blocker.run(
        [PostgresCommand("BEGIN"), PostgresCommand("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")], "lock")
      let (hasLooked, hasCommitted) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      DispatchQueue.global().async {
        _ = try? context.observers.look(observer, at: context)
        hasLooked.signal()
      }
      let deadline = ContinuousClock.now + .seconds(10)
      let waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '\(table)'::regclass"
      while try scratch.run(waiting).first?.count == 0, ContinuousClock.now < deadline {}
      DispatchQueue.global().async {
        try? context.transaction { try $0.define(other) }
        hasCommitted.signal()
      }
      #expect(hasCommitted.wait(timeout: .now() + 10) == .success)
      _ = try blocker.run([PostgresCommand("ROLLBACK")], "unlock")
      #expect(hasLooked.wait(timeout: .now() + 10) == .success)
      #expect(try context.schema(named: "Other") != nil)
      context.pool.giveBack(blocker)
      context.observers.remove(observer)
      try context.close()
    }
  }
#endif
