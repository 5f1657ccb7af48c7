#if Postgres
  import Foundation
  import PersistenceConformance
  import PersistenceCore
  import PersistenceDriverSupport
  import Synchronization
  import Testing

  @testable import PersistencePostgres

  /// What observers hear of commits at the same time.
  @Suite(.withServer) struct ParallelCommitsTests {
    private static let (writers, steps) = (8, 25)

    @Test("U1 W6 observers in two contexts hear of each of many commits at the same time exactly once")
    func inserts() throws {
      let scratch = try Scratch { $0.busyTimeout = .seconds(60) }
      let contexts = try [scratch.open(), scratch.open()]
      try contexts[0].transaction { try $0.define(Account.schema.model) }
      let running = Atomic(Self.writers)
      let observing = Atomic(0)
      let ledgers = Mutex<[ChangeLedger]>([])
      _ = try together(Self.writers + contexts.count) { number in
        guard number < Self.writers else {
          let ledger = try ChangeLedger.follow(
            contexts[number - Self.writers], began: { observing.add(1, ordering: .sequentiallyConsistent) },
            until: { running.load(ordering: .sequentiallyConsistent) == 0 })
          return ledgers.withLock { $0.append(ledger) }
        }
        defer { running.subtract(1, ordering: .sequentiallyConsistent) }
        // Observers that begin during a transaction do not hear its keys.
        while observing.load(ordering: .sequentiallyConsistent) < 2 { usleep(1_000) }
        let repository = Repository(contexts[number % 2])
        for step in 0..<Self.steps {
          try repository.insert(Account(number * Self.steps + step, balance: step))
        }
      }
      for ledger in ledgers.withLock({ $0 }) {
        #expect(ledger.faults == [])
        #expect(ledger.told.count == Self.writers * Self.steps)
        #expect(ledger.told.values.allSatisfy { $0 == 1 })
      }
      #expect(contexts[0].observers.pendingCount == 0)
      for context in contexts { try context.close() }
    }

    @Test("U1 changes of few records by many writers are told in the order in which they took effect")
    func hotRecords() throws {
      let scratch = try Scratch { $0.busyTimeout = .seconds(60) }
      let context = try scratch.open()
      try context.transaction { try $0.define(Account.schema.model) }
      let running = Atomic(Self.writers)
      let observing = Atomic(0)
      let ledgers = Mutex<[ChangeLedger]>([])
      _ = try together(Self.writers + 1) { number in
        guard number < Self.writers else {
          let ledger = try ChangeLedger.follow(
            context, began: { observing.add(1, ordering: .sequentiallyConsistent) },
            until: { running.load(ordering: .sequentiallyConsistent) == 0 })
          return ledgers.withLock { $0.append(ledger) }
        }
        defer { running.subtract(1, ordering: .sequentiallyConsistent) }
        while observing.load(ordering: .sequentiallyConsistent) < 1 { usleep(1_000) }
        let repository = Repository(context)
        for step in 0..<Self.steps {
          let id = (number + step) % 4
          if (number + step).isMultiple(of: 3) {
            try repository.delete(Account.self, id: id)
          } else {
            try repository.save(Account(id, balance: step))
          }
        }
      }
      for ledger in ledgers.withLock({ $0 }) { #expect(ledger.faults == []) }
      #expect(context.observers.pendingCount == 0)
      try context.close()
    }
  }
#endif
