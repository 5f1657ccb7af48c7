import ContextTestSupport
import Foundation
import PersistenceCore
import Testing

@Suite("C2: several processes", .serialized)
struct ProcessTests {
  private static let transfers = Environment.isSoak ? 600 : 40

  @Test(
    "C2 W3 R2 processes write and read one store at once: nothing is lost, no snapshot is torn",
    arguments: ContextUnderTest.multiProcess("C2"))
  func bank(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open(["busy": "60s"])
    let accounts = 150
    try repository.save(contentsOf: (1...accounts).map { Account($0, balance: 100) })
    let workers = try (1...2).map { seed in
      try WorkerProcess([
        "transfer", store.url(["busy": "60s"]), "\(accounts)", "\(Self.transfers)", "\(seed)",
      ])
    }
    for worker in workers { try worker.wait(for: "open") }
    var random = SeededGenerator(seed: 80)
    var own = 0
    while workers.contains(where: { $0.acknowledged < Self.transfers }) && own < Self.transfers {
      try Bank.transfer(in: repository, accounts: accounts, using: &random)
      own += 1
      if own.isMultiple(of: 4) { try Bank.audit(repository, accounts: accounts) }
    }
    for worker in workers {
      #expect(
        worker.waitUntilOver() == .success,
        "\(worker.lines.suffix(2))")
    }
    try Bank.audit(repository, accounts: accounts)
    let done = try repository.fetch(Account.self).reduce(0) { $0 + $1.transfers }
    #expect(done == 2 * (own + 2 * Self.transfers))
    try repository.close()
    try Bank.audit(store.open(), accounts: accounts)
  }

  @Test(
    "C2 W6 a writer waits for another process for the stated time, then throws busy; readers do not wait",
    arguments: ContextUnderTest.multiProcess("W6 between processes"))
  func busy(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open(["busy": "250ms"])
    try repository.save(contentsOf: (1...60).map { Account($0, balance: 7) })
    try repository.save(contentsOf: Person.random(10, seed: 81))
    let worker = try WorkerProcess(["hold", store.url()])
    try worker.wait(for: "holding")
    let start = ContinuousClock.now
    expectError(.busy) { try repository.save(Account(1, balance: 8)) }
    let waited = ContinuousClock.now - start
    #expect(waited >= .milliseconds(240) && waited < .seconds(20))
    #expect(
      try repository.fetch(Account.self).allSatisfy { $0.balance == 7 } && repository.count(Person.self) == 10
    )
    let patient = try store.open(["busy": "60s"])
    let outcome = Threads.run(2) { number -> Bool in
      if number == 0 { return (try? patient.save(Account(60, balance: 9))) != nil }
      usleep(50_000)
      worker.release()
      return worker.waitUntilOver().status == 0
    }
    #expect(outcome == [true, true])
    let balances = try repository.fetch(Account.self).map(\.balance)
    #expect(balances == Array(repeating: -1, count: 50) + Array(repeating: 7, count: 9) + [9])
    #expect(try repository.count(Person.self) == 0)
  }

  @Test(
    "C2 R2 a result stands still while another process writes, and the next fetch sees what it wrote",
    arguments: ContextUnderTest.multiProcess("R2 between processes"))
  func snapshot(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    let accounts = (1...400).map { Account($0, balance: 7) }
    try repository.save(contentsOf: accounts)
    let held = try repository.filter(Account.self).result()
    let sorted = try repository.filter(Account.self).sorted(by: \.balance).result()
    var iterator = held.makeIterator()
    for _ in 0..<10 { _ = iterator.next() }
    for round in 0..<2 {
      let worker = try WorkerProcess(["rewrite", store.url()])
      try worker.wait(for: "done")
      worker.waitUntilOver()
      #expect(Array(held) == accounts && Array(sorted) == accounts, "round \(round)")
      #expect(try repository.count(Account.self) == 400)
      #expect(try repository.filter(Account.self, where: \.balance == 7).count() == 200)
      #expect(try repository.fetch(Account.self).first?.id == -100)
    }
    var rest = 0
    while iterator.next() != nil { rest += 1 }
    #expect(rest == 390)
  }

  @Test(
    "C2 a model that another process has defined is known at once",
    arguments: ContextUnderTest.multiProcess("C2"))
  func definitions(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    #expect(try repository.fetch(Account.self).isEmpty)
    let worker = try WorkerProcess(["rewrite", store.url()])
    try worker.wait(for: "done")
    #expect(try repository.count(Account.self) == 200)
    #expect(try repository.storage.catalog().map(\.name) == ["Account"])
    try repository.save(Account(7, balance: 7))
    #expect(try repository.filter(Account.self, where: \.balance == 7).count() == 1)
  }
}
