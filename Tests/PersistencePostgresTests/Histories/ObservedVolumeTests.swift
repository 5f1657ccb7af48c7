#if Postgres
  import Foundation
  import OurContexts
  import PersistenceConformance
  import PersistenceCore
  import PersistenceDriverSupport
  import Synchronization
  import Testing

  @testable import PersistencePostgres

  /// What an observer is told of many changes while connections are cut at random.
  @Suite(.withServer, .serialized) struct ObservedVolumeTests {
    private static let (changes, writers) = Environment.isSoak ? (1_000_000, 16) : (10_000, 6)

    /// Inserts, updates and deletes records of its own, and returns how often it wrote each.
    private func write(_ number: Int, in repository: Repository) throws -> [Int: Int] {
      var writes: [Int: Int] = [:]
      var (own, next, done): ([Int], Int, Int) = ([], (number + 1) * 10_000_000, 0)
      while done < Self.changes / Self.writers {
        let new = Array(next..<next + Int.random(in: 1...16))
        next += new.count
        let place = own.indices.randomElement()
        let old = place.map { own[$0] }
        let deletes = Bool.random()
        do {
          try repository.transaction(replayable: true) { store in
            try store.insert(contentsOf: new.map { Account($0, balance: 0) })
            guard let old else { return }
            if deletes {
              try store.delete(Account.self, id: old)
            } else {
              try store.write(Account.self, id: old) { $0.balance += 1 }
            }
          }
          if let place, deletes {
            own.swapAt(place, own.count - 1)
            own.removeLast()
          }
          own += new
        } catch let error as PersistenceError where [.unreachable, .busy].contains(error.code) {
          continue
        } catch let error as PersistenceError where error.code == .outcomeUnknown {
          // Nobody writes these records again, since they may be there or not.
          if let place { own.remove(at: place) }
        }
        for id in new + [old].compactMap(\.self) { writes[id, default: 0] += 1 }
        done += new.count + (old == nil ? 0 : 1)
      }
      return writes
    }

    /// It stands in this suite because nothing runs beside it: a check that another transaction was open for is not whole.
    @Test("U1 no commit is missed whose number was removed, and none is told twice")
    func removedNumbers() throws {
      let scratch = try Scratch()
      let context = try scratch.open()
      let commits = PostgresCommits(context.store)
      let table = "\(scratch.schemaName).persistence_commits"
      let connection = try PostgresConnection.open(context.store)
      func save(_ id: Int64) throws { try context.save([Scratch.row(id, "\(id)")]) }
      func purge() throws {
        _ = try connection.run([PostgresCommits.purge(context.store, keeping: .zero)], "remove old numbers")
      }
      #expect(try !commits.check(), "the first check")
      #expect(try commits.newCommits().numbers.isEmpty, "nothing was committed")
      try save(1)
      let first = try commits.newCommits()
      #expect(first.isWhole && first.numbers.count == 1)
      #expect(try commits.newCommits().numbers.isEmpty, "told once")
      try save(2)
      #expect(try commits.newCommits().numbers.count == 1)
      try purge()
      #expect(try commits.newCommits().isWhole, "the greatest of the old numbers stays")
      #expect(try scratch.run("SELECT 1 FROM \(table) WHERE xid > '1'").first?.count == 1)
      try save(3)
      #expect(try commits.newCommits().numbers.count == 1)
      try save(4)
      try save(5)
      try purge()
      #expect(
        try !commits.newCommits().isWhole, "another process may have committed between those that are left")
      #expect(try commits.newCommits().isWhole)
      try context.close()
    }

    @Test(
      "U1 U2 of many changes, an observer whose connections are cut is told each once, or to read again",
      .enabled(if: Environment.wants("postgres")), arguments: [false, true])
    func cutObserver(besideAnotherProcess: Bool) throws {
      try ContextUnderTest.postgres.withScratch { [self] context in
        let place = try context.makeStore()
        let scratch = try Scratch {
          $0.schema = ContextUnderTest.storeName(at: place.path)
          $0.busyTimeout = .seconds(60)
          $0.poolSize = 16
        }
        let contexts = try [scratch.open(), scratch.open(), scratch.open()]
        let repositories = contexts.map { Repository($0) }
        try repositories[0].save(Account(1, balance: 1))
        try repositories[0].save(Person("list"))
        var options = OpeningOptions()
        options.busyMilliseconds = 60_000
        let worker =
          besideAnotherProcess
          ? try place.worker("append", "1", "100000000", "replayable", opening: options) : nil
        try worker?.wait(for: "before")
        let running = Atomic(Self.writers)
        let isObserving = Atomic(false)
        let isOver = Atomic(false)
        let ledger = Mutex<ChangeLedger?>(nil)
        let writes = try together(Self.writers + 2) { number -> [Int: Int] in
          switch number {
          case Self.writers:
            // The writers wait for an observer, and must not do so for one that has failed.
            defer { isObserving.store(true, ordering: .sequentiallyConsistent) }
            let found = try ChangeLedger.follow(contexts[2], readsAgain: true) {
              isObserving.store(true, ordering: .sequentiallyConsistent)
            } until: {
              isOver.load(ordering: .sequentiallyConsistent)
            }
            ledger.withLock { $0 = found }
            return [:]
          case Self.writers + 1:
            defer { isOver.store(true, ordering: .sequentiallyConsistent) }
            while running.load(ordering: .sequentiallyConsistent) > 0 {
              usleep(UInt32.random(in: 30_000...120_000))
              try cutOne(scratch)
              // The other process's list would grow for ever.
              if worker != nil { _ = try? repositories[0].delete(Person.self, id: "list") }
            }
            worker?.kill()
            // The last commit of the other process may still be under way; a plain transaction waits for it.
            _ = try? repositories[0].transaction { try $0.save(Person("last")) }
            return [:]
          default:
            defer { running.subtract(1, ordering: .sequentiallyConsistent) }
            // Observers that begin during a transaction do not hear its keys.
            while !isObserving.load(ordering: .sequentiallyConsistent) { usleep(1_000) }
            return try write(number, in: repositories[number % 2])
          }
        }
        let last = ledger.withLock(\.self)
        let found = try #require(last)
        #expect(found.faults == [])
        var stored: Set<RecordKey> = []
        try repositories[0].filter(Account.self).result().forEach {
          stored.insert(RecordKey([.integer(Int64($0.id))]))
        }
        #expect(found.records == stored)
        let known = writes.reduce(into: [Int: Int]()) { $0.merge($1) { $0 + $1 } }
        let repeated = try found.told.filter { key, count in
          try count > known[key.value(as: Int.self)] ?? 0
        }
        #expect(repeated.isEmpty, "told more often than written")
        if worker == nil { #expect(!found.told.isEmpty) }
        #expect(contexts[0].observers.pendingCount == 0)
        for context in contexts { try context.close() }
      }
    }

    @Test(
      "U1 U2 an observation goes on when a server that was killed is back",
      .enabled(if: PostgresServer.programs != nil), .timeLimit(.minutes(5)))
    func killedServer() async throws {
      let server = try PostgresServer()
      defer { server.stop() }
      let scratch = try Scratch(on: server.url)
      let (observed, other) = (try scratch.open(), try scratch.open())
      try Repository(observed).save(Account(1, balance: 1))
      let updates = Repository(observed)
        .updates(of: Account.self, options: ObservationOptions(outsideInterval: .milliseconds(10)))
        .makeAsyncIterator()
      var (first, known) = (updates, 0)
      _ = try await first.next()
      for last in 2...4 {
        let waiting = Task {
          var (updates, ids) = (updates, [Int]())
          while ids.last != last, let update = try await updates.next() { ids = update.results.map(\.id) }
          return ids
        }
        server.kill()
        // Polls meet no server, and then one that recovers.
        try await Task.sleep(for: .milliseconds(300))
        try server.waitUntilReady()
        try Repository(other).save(Account(last, balance: 1))
        known = try await waiting.value.count
      }
      #expect(known == 4)
      try observed.close()
      try other.close()
    }

    /// Ends one of the store's connections.
    private func cutOne(_ scratch: Scratch) throws {
      try scratch.run(
        "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
          + "AND application_name = '\(scratch.configuration.schema)' ORDER BY random() LIMIT 1) AS one")
    }
  }
#endif
