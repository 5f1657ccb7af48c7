import PersistenceCore
import Synchronization

/// U1 under load: the reported changes agree with the stored records at every update.
enum ObservationLoadChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      asynchronous: "while threads write, each update's changed keys match the change in its results",
      [.u1, .c1], needs: [.writable, .reportingCommits], addsUp),
    ConformanceCheck(
      asynchronous: "two contexts on one store in one process report each other's commits", [.u1],
      needs: [.writable, .reportingCommits, .multiProcess], siblings),
  ]

  private final class Count: Sendable { let value = Atomic(0) }

  /// The changes reported to an observer so far.
  private struct Ledger {
    var balances: [Int: Int] = [:]
    var updates = 0

    mutating func add(_ update: RecordUpdate<Account>) throws {
      updates += 1
      let now = Dictionary(update.results.map { ($0.id, $0.balance) }, uniquingKeysWith: { $1 })
      let before = balances
      balances = now
      let keys: ChangedKeys
      switch update.changes {
      case .first: return try expect(updates, equals: 1, "exactly one first update")
      case .unknown:
        throw ConformanceFailure("changes", expected: "keys", found: "unknown", file: #fileID, line: #line)
      case .keys(let changed): keys = changed
      }
      func ids(_ keys: Set<RecordKey>) throws -> Set<Int> { Set(try keys.map { try $0.value(as: Int.self) }) }
      try expect(keys.count > 0, "an update has changes")
      try expect(ids(keys.inserted), equals: Set(now.keys).subtracting(before.keys), "the inserted keys")
      try expect(ids(keys.deleted), equals: Set(before.keys).subtracting(now.keys), "the deleted keys")
      let changed = Set(now.filter { before[$0.key] != nil && before[$0.key] != $0.value }.keys)
      // Each write changes the balance, so an unchanged record was not written, or more than once.
      try expect(changed.isSubset(of: ids(keys.updated)), "the updated keys: \(changed) of \(keys.updated)")
    }
  }

  @Sendable private static func addsUp(_ context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open(.patient)
    let steps = context.effort.times(60, thorough: 1000)
    let (writers, ids) = (3, 40)
    try await Watchdog.limit(seconds: context.effort.times(120, thorough: 1200)) {
      let observing = Count()
      let conditions: [PersistentPredicate<Account>] = [.all, \.balance > 500]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for predicate in conditions {
          group.addTask {
            var ledger = Ledger()
            var updates = repository.updates(of: Account.self, where: predicate).makeAsyncIterator()
            try ledger.add(await updates.required())
            observing.value.add(1, ordering: .sequentiallyConsistent)
            // A last record that matches every filter marks the end.
            while ledger.balances[-1] == nil { try ledger.add(await updates.required()) }
            var stored: [Int: Int] = [:]
            try repository.filter(Account.self, where: predicate).result().forEach {
              stored[$0.id] = $0.balance
            }
            try expect(ledger.balances, equals: stored)
          }
        }
        group.addTask {
          // An observer that starts during a transaction does not get its keys.
          while observing.value.load(ordering: .sequentiallyConsistent) < conditions.count, !Task.isCancelled
          { await Task.yield() }
          try Threads.run(writers) { writer in
            var random = SeededGenerator(seed: UInt64(writer))
            for _ in 0..<steps { try step(repository, ids: ids, &random) }
          }
          try repository.save(Account(-1, balance: 1_000_000))
        }
        try await group.waitForAll()
      }
    }
  }

  private static func step(_ repository: Repository, ids: Int, _ random: inout SeededGenerator) throws {
    let (first, second) = (random.int(0...ids), random.int(0...ids))
    let balance = random.int(0...1000)
    switch random.int(0...3) {
    case 0: try repository.save(Account(first, balance: balance))
    case 1: try repository.delete(Account.self, id: first)
    case 2:
      try repository.transaction { store in
        try store.save(Account(first, balance: balance))
        try store.delete(Account.self, id: second)
        try? store.transaction { inner in
          try inner.save(Account(second, balance: balance))
          if balance % 2 == 0 { throw SuiteError() }
        }
      }
    default:
      try repository.filter(Account.self, where: \.id >= first && \.id < first + 3)
        .update(.set(\.balance, to: balance))
    }
  }

  @Sendable private static func siblings(_ context: ContextUnderTest) async throws {
    let store = try context.makeStore()
    let (first, second) = (try store.open(.patient), try store.open(.patient))
    try await Watchdog.limit {
      try second.save(Account(1, balance: 1))
      var updates = first.updates(of: Account.self).makeAsyncIterator()
      try await updates.expectNext(.first, ids: [1])
      for id in 2...5 {
        try (id % 2 == 0 ? second : first).save(Account(id, balance: 1))
        let update = try await updates.required()
        try expect(update.results.map(\.id), equals: Array(1...id))
        // A context that treats the other one as another process cannot report keys.
        let told: [ChangeSet] = [ObservationChecks.keys(inserted: [id]), .unknown]
        try expect(told.contains(update.changes), "\(update.changes)")
      }
    }
  }
}
