import Foundation
import PersistenceCore

/// C2: several processes.
enum ProcessChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "several processes write and read one store: no write is lost, and no snapshot is inconsistent",
      [.c2, .w3, .r2], needs: [.writable, .multiProcess], bank),
    ConformanceCheck(
      "a writer waits for another process for the configured time, then throws busy; readers do not wait",
      [.c2, .w6], needs: [.writable, .multiProcess], busy),
    ConformanceCheck(
      "a result does not change while another process writes, and the next fetch sees those writes",
      [.c2, .r2], needs: [.writable, .multiProcess], snapshot),
    ConformanceCheck(
      "a model defined by another process is visible at once", [.c2], needs: [.writable, .multiProcess],
      definitions),
  ]

  @Sendable private static func bank(_ context: ContextUnderTest) throws {
    let transfers = context.effort.times(40, thorough: 600)
    let store = try context.makeStore()
    let repository = try store.open(.patient)
    let accounts = 150
    try repository.save(contentsOf: (1...accounts).map { Account($0, balance: 100) })
    let workers = try (1...2).map { seed in
      try store.worker("transfer", "\(accounts)", "\(transfers)", "\(seed)", opening: .patient)
    }
    for worker in workers { try worker.wait(for: "open") }
    var random = SeededGenerator(seed: 80)
    var own = 0
    while workers.contains(where: { $0.acknowledged < transfers }) && own < transfers {
      try Bank.transfer(in: repository, accounts: accounts, using: &random)
      own += 1
      if own.isMultiple(of: 4) { try Bank.audit(repository, accounts: accounts) }
    }
    for worker in workers { try expect(worker.waitUntilOver() == .success, "\(worker.lines.suffix(2))") }
    try Bank.audit(repository, accounts: accounts)
    let done = try repository.fetch(Account.self).reduce(0) { $0 + $1.transfers }
    try expect(done, equals: 2 * (own + 2 * transfers))
    try repository.close()
    try Bank.audit(store.open(), accounts: accounts)
  }

  @Sendable private static func busy(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open(.waiting(milliseconds: 250))
    try repository.save(contentsOf: (1...60).map { Account($0, balance: 7) })
    try repository.save(contentsOf: Person.random(10, seed: 81))
    let worker = try store.worker("hold")
    try worker.wait(for: "holding")
    let start = ContinuousClock.now
    try expectError(.busy) { try repository.save(Account(1, balance: 8)) }
    let waited = ContinuousClock.now - start
    try expect(waited >= .milliseconds(240) && waited < .seconds(20))
    try expect(
      repository.fetch(Account.self).allSatisfy { $0.balance == 7 } && repository.count(Person.self) == 10)
    let patient = try store.open(.patient)
    let outcome = try Threads.run(2) { number -> Bool in
      if number == 0 {
        try patient.save(Account(60, balance: 9))
        return true
      }
      usleep(50_000)
      worker.release()
      return worker.waitUntilOver().status == 0
    }
    try expect(outcome, equals: [true, true])
    let balances = try repository.fetch(Account.self).map(\.balance)
    try expect(balances, equals: Array(repeating: -1, count: 50) + Array(repeating: 7, count: 9) + [9])
    try expect(repository.count(Person.self), equals: 0)
  }

  @Sendable private static func snapshot(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    let accounts = (1...400).map { Account($0, balance: 7) }
    try repository.save(contentsOf: accounts)
    let held = try repository.filter(Account.self).result()
    let sorted = try repository.filter(Account.self).sorted(by: \.balance).result()
    var iterator = held.makeIterator()
    for _ in 0..<10 { _ = iterator.next() }
    for round in 0..<2 {
      let worker = try store.worker("rewrite")
      try worker.wait(for: "done")
      worker.waitUntilOver()
      try expect(Array(held) == accounts && Array(sorted) == accounts, "round \(round)")
      try expect(repository.count(Account.self), equals: 400)
      try expect(repository.filter(Account.self, where: \.balance == 7).count(), equals: 200)
      try expect(repository.fetch(Account.self).first?.id, equals: -100)
    }
    var rest = 0
    while iterator.next() != nil { rest += 1 }
    try expect(rest, equals: 390)
  }

  @Sendable private static func definitions(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    try expect(repository.fetch(Account.self).isEmpty)
    let worker = try store.worker("rewrite")
    try worker.wait(for: "done")
    try expect(repository.count(Account.self), equals: 200)
    try expect(repository.storage.catalog().map(\.name), equals: ["Account"])
    try repository.save(Account(7, balance: 7))
    try expect(repository.filter(Account.self, where: \.balance == 7).count(), equals: 1)
  }
}
