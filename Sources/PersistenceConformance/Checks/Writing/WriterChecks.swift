import Foundation
import PersistenceCore
import Synchronization

/// W6: one writer at a time.
enum WriterChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a second writer waits for the configured time, then throws busy and changes nothing", [.w6], busy),
    ConformanceCheck(
      "a waiting writer proceeds when the current one ends, also if that one failed", [.w6], turn),
    ConformanceCheck("writers in one process proceed in order of arrival", [.w6], fairness),
    ConformanceCheck("readers never wait for a writer, and a writer never waits for readers", [.w6], readers),
  ]

  @Sendable private static func busy(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(.waiting(milliseconds: 200))
    try repository.save(Account(1, balance: 1))
    try repository.transaction { store in
      try store.save(Account(1, balance: 2))
      let waited = try Threads.run(1) { _ -> Duration in
        let start = ContinuousClock.now
        let error = try expectError(.busy) { try repository.save(Account(1, balance: 3)) }
        try expect(error.isRetryable)
        return ContinuousClock.now - start
      }
      try expect(waited[0] >= .milliseconds(190) && waited[0] < .seconds(4))
      // Readers do not wait for the writer.
      try expect(Threads.run(1) { _ in try? repository.find(Account.self, id: 1)?.balance }, equals: [1])
    }
    try expect(repository.find(Account.self, id: 1)?.balance, equals: 2)
    try repository.save(Account(1, balance: 3))
  }

  @Sendable private static func turn(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(.waiting(milliseconds: 30_000))
    try repository.save(Account(1, balance: 0))
    let outcomes = try Threads.run(6) { number -> Bool in
      do {
        try repository.transaction { store in
          try store.write(Account.self, id: 1) { $0.balance += 1 }
          if number.isMultiple(of: 2) { throw SuiteError() }
        }
        return true
      } catch {
        return false
      }
    }
    try expect(outcomes, equals: [false, true, false, true, false, true])
    try expect(repository.find(Account.self, id: 1)?.balance, equals: 3)
  }

  @Sendable private static func fairness(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(.patient)
    try repository.save(Account(1, balance: 0))
    let order = Mutex<[Int]>([])
    let group = DispatchGroup()
    try repository.transaction { _ in
      for number in 0..<8 {
        let writer = WaitingThread(in: group) {
          // A writer that timed out is not in the order.
          try? repository.transaction { _ in order.withLock { $0.append(number) } }
        }
        try writer.waitUntilAsleepOrOver()
      }
    }
    group.wait()
    try expect(order.withLock { $0 }, equals: Array(0..<8))
  }

  @Sendable private static func readers(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(.waiting(milliseconds: 1000))
    try repository.save(contentsOf: (1...600).map { Account($0, balance: 0) })
    let held = try repository.fetch(Account.self)
    let iterator = held.makeIterator()
    _ = iterator.next()
    try repository.save(contentsOf: (1...600).map { Account($0, balance: 1) })
    try repository.transaction { store in
      try store.deleteAll(Account.self)
      let sums = try Threads.run(2) { _ in try? repository.fetch(Account.self).reduce(0) { $0 + $1.balance } }
      try expect(sums, equals: [600, 600])
      try expect(held.reduce(0) { $0 + $1.balance }, equals: 0)
    }
    try expect(held.count == 600 && held.reduce(0) { $0 + $1.balance } == 0)
    try expect(repository.count(Account.self), equals: 0)
  }
}
