import ContextTestSupport
import Foundation
import PersistenceCore
import Testing

@Suite("W5: kills", .serialized)
struct KillTests {
  /// How many kills a durable context must survive; `make soak` asks for 200.
  private static let kills = Environment.isSoak ? 200 : 20

  @Test(
    "W5 killed at a random instant, a store opens by itself and holds exactly the committed transactions, whole",
    arguments: ContextUnderTest.durable("W5 after kills"))
  func kills(context: ContextUnderTest) throws {
    var random = SeededGenerator(seed: UInt64(Environment["PERSISTENCE_SEED"] ?? "") ?? 70)
    var round = 0
    while round < Self.kills {
      let seed = random.next()
      let script = CommitScript(seed: seed)
      let store = try context.makeStore(on: .disk)
      var committed = 0
      // One store is killed several times; the first time perhaps before it exists.
      for life in 0..<5 where round < Self.kills {
        round += 1
        let worker = try WorkerProcess(["commit", store.url(), "\(seed)", "\(committed)"])
        if life == 0 {
          usleep(UInt32(random.int(0...150_000)))
        } else {
          try worker.wait(for: "ack \(committed + random.int(1...12))")
          usleep(UInt32(random.int(0...20_000)))
        }
        worker.kill()
        #expect(!worker.lines.contains { $0.hasPrefix("error") }, "\(worker.lines.suffix(2))")
        let acknowledged = max(committed, worker.acknowledged)
        let repository = try store.open()
        let found = try CommitScript.read(repository)
        #expect([acknowledged, acknowledged + 1].contains(found.number), "seed \(seed), round \(round)")
        let expected = try script.state(after: found.number)
        #expect(
          found == expected, "seed \(seed), round \(round): \(found.number) of \(acknowledged) acknowledged")
        try script.apply(found.number + 1, to: repository)
        committed = found.number + 1
        try repository.close()
      }
    }
  }

  @Test(
    "W5 C2 a process that is killed inside its transaction leaves nothing of it, and does not block the others",
    arguments: ContextUnderTest.multiProcess("W5 beside a killed process"))
  func killedWriter(context: ContextUnderTest) throws {
    let store = try context.makeStore(on: .disk)
    let repository = try store.open(["busy": "300ms"])
    try repository.save(contentsOf: (1...60).map { Account($0, balance: 7) })
    try repository.save(contentsOf: Person.random(10, seed: 71))
    let held = try repository.fetch(Account.self)
    for _ in 0..<3 {
      let worker = try WorkerProcess(["hold", store.url()])
      try worker.wait(for: "holding")
      expectError(.busy) { try repository.save(Account(1, balance: 8)) }
      #expect(try repository.fetch(Account.self).allSatisfy { $0.balance == 7 })
      worker.kill()
      try repository.save(Account(1, balance: 7))
      #expect(try repository.fetch(Account.self).allSatisfy { $0.balance == 7 })
      #expect(try repository.count(Account.self) == 60 && repository.count(Person.self) == 10)
    }
    #expect(held.count == 60 && held.allSatisfy { $0.balance == 7 })
  }
}
