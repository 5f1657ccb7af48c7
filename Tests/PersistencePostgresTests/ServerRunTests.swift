#if Postgres
  import Foundation
  import OurContexts
  import PersistenceDriver
  import PersistenceDriverSupport
  import Synchronization
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// What the run and the settings of a server mean for its commits; each test has a server of its own.
  @Suite(.withPrograms, .serialized) struct ServerRunTests {
    /// Lets the server's statistics begin anew, as they do when it recovers from a crash.
    private func beginStatistics(_ scratch: Scratch) throws {
      func run() throws -> String? {
        try scratch.run("SELECT \(PostgresServerRun.columns)").first
          .flatMap { PostgresServerRun.text($0) }
      }
      let before = try #require(try run())
      try scratch.run("SELECT pg_stat_reset_shared('wal')")
      try eventually("the run is another one") { try run() != before }
    }

    @Test("U1 a check behind a pooler notices another run of the server, although its connection lives on")
    func poolers() throws {
      let server = try PostgresServer()
      defer { server.stop() }
      let scratch = try Scratch(on: server.url) { $0.pooler = .transaction }
      let context = try scratch.open()
      let commits = PostgresCommits(context.store)
      func news(_ isOfSnapshot: Bool) throws -> NewCommits {
        guard isOfSnapshot else { return try commits.newCommits() }
        return try #require(try commits.newCommits(seenBy: context.snapshot()))
      }
      try context.save([Scratch.row(1, "one")])
      _ = try commits.newCommits()
      for isOfSnapshot in [false, true] {
        try context.save([Scratch.row(2, "two")])
        let known = try news(isOfSnapshot)
        #expect(known.isWhole && known.numbers.count == 1)
        try beginStatistics(scratch)
        try context.save([Scratch.row(3, "three")])
        #expect(try !news(isOfSnapshot).isWhole)
        try context.save([Scratch.row(4, "four")])
        let later = try news(isOfSnapshot)
        #expect(later.isWhole && later.numbers.count == 1)
      }
      try context.close()
    }

    @Test(
      "U1 snapshots of older connections show which commits they see after the server's statistics began anew"
    )
    func statistics() throws {
      let server = try PostgresServer()
      defer { server.stop() }
      let scratch = try Scratch(on: server.url)
      let context = try scratch.open()
      let commits = PostgresCommits(context.store)
      try context.save([Scratch.row(1, "one")])
      _ = try commits.newCommits()
      try beginStatistics(scratch)
      try context.save([Scratch.row(2, "two")])
      let unsure = try #require(try commits.newCommits(seenBy: context.snapshot()))
      #expect(!unsure.isWhole)
      try context.save([Scratch.row(3, "three")])
      let sure = try #require(try commits.newCommits(seenBy: context.snapshot()))
      #expect(sure.isWhole && sure.numbers.count == 1)
      try context.close()
    }

    @Test("W5 a commit whose process ends while it waits for a standby throws outcomeUnknown")
    func synchronousCommits() throws {
      let server = try PostgresServer()
      defer { server.stop() }
      let scratch = try Scratch(on: server.url)
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      let connection = try context.pool.take()
      func result(_ statement: String) throws -> PostgresResult? {
        try connection.run([PostgresCommand(statement)], "run a test's statement").first
      }
      _ = try result("BEGIN")
      let number = try #require(try result("SELECT pg_current_xact_id()::text")?.text(0, 0))
      _ = try result("COMMIT")
      func outcome() throws -> Bool? {
        try connection.outcome(of: number, begunIn: connection.serverRun)
      }
      #expect(try outcome() == true)
      try scratch.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
      try scratch.run("SELECT pg_reload_conf()")
      try eventually("the setting takes effect") {
        try result("SHOW synchronous_standby_names")?.text(0, 0) == "nobody"
      }
      let failure = Mutex<PersistenceError.Code?>(nil)
      let isEnding = Atomic(false)
      let end = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        var found: PersistenceError.Code?
        // The first commits may not wait yet.
        repeat {
          found = code { try context.save([Scratch.row(2, "two")]) }
        } while found == nil && !isEnding.load(ordering: .acquiring)
        failure.withLock { [found] in $0 = found }
        end.signal()
      }
      let waiting =
        "FROM pg_stat_activity WHERE wait_event = 'SyncRep' "
        + "AND application_name = '\(scratch.configuration.schema)'"
      try eventually("the commit waits") { try scratch.run("SELECT 1 \(waiting)").first?.count == 1 }
      isEnding.store(true, ordering: .releasing)
      try scratch.run("SELECT pg_terminate_backend(pid) \(waiting)")
      try #require(end.wait(timeout: .now() + 60) == .success)
      #expect(failure.withLock { $0 } == .outcomeUnknown)
      #expect(try outcome() == nil)
      _ = try result("SET synchronous_commit = local")
      #expect(try outcome() == true, "no commit waits for a standby")
      #expect(try context.texts() == ["one", "two"])
      try context.close()
    }
  }
#endif
