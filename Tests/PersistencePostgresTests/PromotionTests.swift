#if Postgres
  import Foundation
  import OurContexts
  import PersistenceConformance
  import PersistenceCore
  import PersistenceDriver
  import PersistenceDriverSupport
  import Synchronization
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// The primary server dies, and the standby takes its place.
  @Suite(.withPrograms, .serialized) struct PromotionTests {
    @Test("W5 with synchronous replication, a promoted standby has every write that was acknowledged")
    func synchronous() throws {
      let server = try ReplicatedServer()
      let context = try server.open()
      try context.save([Scratch.row(0, "first")])
      try server.replicateSynchronously()
      let goal = Environment.isSoak ? 12_000 : 400
      let acknowledged = Mutex<Set<Int64>>([])
      let isOver = Atomic<Bool>(false)
      let threads = DispatchGroup()
      for thread in 0..<4 {
        threads.enter()
        Thread.detachNewThread {
          defer { threads.leave() }
          var id = Int64(thread + 1)
          while !isOver.load(ordering: .relaxed) {
            do {
              try context.save([Scratch.row(id, "note")])
              acknowledged.withLock { _ = $0.insert(id) }
              id += 4
            } catch {
              Thread.sleep(forTimeInterval: 0.01)
            }
          }
        }
      }
      func wait(for count: Int) throws {
        let deadline = ContinuousClock.now + (Environment.isSoak ? .seconds(600) : .seconds(120))
        while acknowledged.withLock({ $0.count }) < count {
          try #require(ContinuousClock.now < deadline, "writing stops")
          Thread.sleep(forTimeInterval: 0.01)
        }
      }
      defer {
        isOver.store(true, ordering: .relaxed)
        // After a failure, writers may wait for a standby that does not answer.
        try? server.kill(.primary)
        threads.wait()
      }
      try wait(for: goal / 2)
      try server.kill(.primary)
      try server.promote()
      try wait(for: goal)
      isOver.store(true, ordering: .relaxed)
      threads.wait()
      var found: Set<Int64> = []
      _ = try context.fetch(FetchRequest(Scratch.schema.get())).read(from: 0, limit: .max) { row in
        if case .integer(let id) = try row.value(at: 0) { found.insert(id) }
      }
      let lost = acknowledged.withLock { $0.subtracting(found) }
      #expect(lost.isEmpty, "acknowledged, and not in the promoted server")
      try context.close()
    }

    @Test("W5 with asynchronous replication, the record of batches names no batch that a promotion has lost")
    func lostBatches() throws {
      let server = try ReplicatedServer()
      let context = try server.open()
      let repository = Repository(context)
      let batches = (1...40).map { (number: $0, id: UUID()) }
      func apply(_ batch: (number: Int, id: UUID)) throws -> Bool {
        try repository.applyOnce(batch.id, replayable: true) { store in
          try store.insert(Account(batch.number, balance: batch.number))
        }
      }
      for batch in batches.prefix(25) { #expect(try apply(batch)) }
      try server.catchUp()
      try server.stop(.standby)
      for batch in batches.suffix(15) { #expect(try apply(batch)) }
      try server.kill(.primary)
      try server.start(.standby)
      try server.promote()
      try eventually("the promoted server answers") { (try? repository.count(Account.self)) != nil }
      #expect(try repository.count(Account.self) == 25)
      for batch in batches {
        let isThere = try repository.find(Account.self, id: batch.number) != nil
        #expect(try AppliedBatches().contains(batch.id, in: context) == isThere)
      }
      // A sender that repeats all of them loses nothing and repeats nothing.
      for batch in batches { #expect(try apply(batch) == (batch.number > 25)) }
      #expect(try repository.count(Account.self) == 40)
      try context.close()
    }

    @Test("W5 a commit that a promotion has lost is not taken for one of the promoted server")
    func lostCommit() throws {
      let server = try ReplicatedServer()
      let context = try server.open()
      try context.save([Scratch.row(1, "one")])
      try server.catchUp()
      // The standby receives nothing more, and the primary server waits for a standby that does not exist.
      try server.stop(.standby)
      try server.start(.standby, "-c primary_conninfo=")
      try server.run(
        .primary, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()")
      try eventually("the setting takes effect") {
        try server.run(.primary, "SHOW synchronous_standby_names")?.text(0, 0) == "nobody"
      }
      let outcome = Mutex<PersistenceError.Code?>(nil)
      let end = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        let failure = code { try context.save([Scratch.row(2, "two")]) }
        outcome.withLock { $0 = failure }
        end.signal()
      }
      try eventually("the commit waits") {
        try server.run(.primary, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'")?.count == 1
      }
      try server.promote()
      // The number of the lost transaction becomes that of another one, which is committed.
      let other = try server.connect(.standby)
      for _ in 0..<100 {
        _ = try other.run([PostgresCommand("SELECT pg_current_xact_id()")], "use a number")
      }
      try server.kill(.primary)
      try #require(end.wait(timeout: .now() + 120) == .success)
      #expect(outcome.withLock { $0 } == .outcomeUnknown)
      #expect(try context.texts() == ["one"])
      try context.save([Scratch.row(2, "two")])
      #expect(try context.texts() == ["one", "two"])
      try context.close()
    }
  }
#endif
