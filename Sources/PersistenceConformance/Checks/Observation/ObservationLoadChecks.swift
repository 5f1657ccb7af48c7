import PersistenceCore
import Synchronization

/// U1 under load: what is told adds up to what is stored, at every update.
enum ObservationLoadChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      asynchronous: "while threads write, what observers are told adds up to what they see, at every update",
      [.u1, .c1], needs: [.writable, .reportingCommits], addsUp),
    ConformanceCheck(
      asynchronous: "two contexts of one store in one process tell each other's commits", [.u1],
      needs: [.writable, .reportingCommits, .multiProcess], siblings),
  ]

  private final class Count: Sendable {
    let value = Atomic<Int>(0)
  }

  /// What an observer has been told so far.
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
      case .first: return try expect(updates, equals: 1, "the first update is the first")
      case .unknown:
        throw ConformanceFailure("changes", expected: "keys", found: "unknown", file: #fileID, line: #line)
      case .keys(let changed): keys = changed
      }
      func ids(_ keys: Set<RecordKey>) throws -> Set<Int> { Set(try keys.map { try $0.value(as: Int.self) }) }
      try expect(keys.count > 0, "an update tells of something")
      try expect(ids(keys.inserted), equals: Set(now.keys).subtracting(before.keys), "what was inserted")
      try expect(ids(keys.deleted), equals: Set(before.keys).subtracting(now.keys), "what was deleted")
      let changed = Set(now.filter { before[$0.key] != nil && before[$0.key] != $0.value }.keys)
      // Each write has another balance: a record that is the same was not written since, or more than once.
      try expect(changed.isSubset(of: ids(keys.updated)), "what was updated: \(changed) of \(keys.updated)")
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
            // A last record, which fits every condition, says that there is nothing more to come.
            while ledger.balances[-1] == nil { try ledger.add(await updates.required()) }
            var stored: [Int: Int] = [:]
            try repository.filter(Account.self, where: predicate).result().forEach {
              stored[$0.id] = $0.balance
            }
            try expect(ledger.balances, equals: stored)
          }
        }
        group.addTask {
          // Who begins beside a transaction that is under way is not told its keys.
          while observing.value.load(ordering: .sequentiallyConsistent) < conditions.count, !Task.isCancelled
          { await Task.yield() }
          _ = try Threads.run(writers) { writer in
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
          if balance % 2 == 0 { throw Refusal() }
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
      let present = try await updates.required()

      try expect(present.results.map(\.id), equals: [1])
      for id in 2...5 {
        try (id % 2 == 0 ? second : first).save(Account(id, balance: 1))
        let update = try await updates.required()
        try expect(update.results.map(\.id), equals: Array(1...id))
        // A context that takes the other for another process cannot tell keys.
        let told: [ChangeSet] = [.keys(ObservationChecks.keys(inserted: [id])), .unknown]
        try expect(told.contains(update.changes), "\(update.changes)")
      }
    }
  }
}
