import Foundation
import PersistenceCore

/// W5: kills.
enum KillChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "after a kill at a random moment, the store opens and has exactly the committed transactions",
      [.w5], needs: [.writable, .durable], kills),
    ConformanceCheck(
      "a process killed inside a transaction leaves no trace of it, and does not block other processes",
      [.w5, .c2], needs: [.writable, .multiProcess], killedWriter),
    ConformanceCheck(
      "when two writer processes are killed while both write, no partial transaction remains",
      [.w5, .c2, .w3], needs: [.writable, .durable, .multiProcess], killedCrowd),
  ]

  private static func rounds(for context: ContextUnderTest) -> Int { context.effort.times(20, thorough: 200) }

  @Sendable private static func kills(_ context: ContextUnderTest) throws {
    var random = SeededGenerator(seed: context.seed ?? 70)
    var round = 0
    let rounds = rounds(for: context)
    while round < rounds {
      let seed = random.next()
      let script = CommitScript(seed: seed)
      // A kill loses nothing that the kernel has, so after the first store memory serves as well.
      let store = try context.makeStore(on: round == 0 ? .disk : .fast)
      var committed = 0
      // Several kills hit one store, the first perhaps before the store exists.
      for life in 0..<5 where round < rounds {
        round += 1
        let worker = try store.worker("commit", "\(seed)", "\(committed)")
        if life == 0 {
          usleep(UInt32(random.int(0...80_000)))
        } else {
          try worker.wait(for: "ack \(committed + random.int(1...12))")
          usleep(UInt32(random.int(0...5_000)))
        }
        worker.kill()
        CheckTrace.count("kills", 1)
        try expect(!worker.lines.contains { $0.hasPrefix("error") }, "\(worker.lines.suffix(2))")
        let acknowledged = max(committed, worker.acknowledged)
        let repository = try store.open()
        let found = try read(repository)
        try expect([acknowledged, acknowledged + 1].contains(found.number), "seed \(seed), round \(round)")
        let expected = try script.state(after: found.number)
        try expect(
          found, equals: expected,
          "seed \(seed), round \(round): \(found.number) of \(acknowledged) acknowledged")
        try script.apply(found.number + 1, to: repository)
        committed = found.number + 1
        try repository.close()
      }
    }
  }

  /// Reads the content of a store whose writer was killed.
  ///
  /// A server may commit what the process has sent after the process's end, so its store is read at one moment.
  private static func read(_ repository: Repository) throws -> CommitScript.State {
    if try repository.storage.capabilities.hasFiles { return try CommitScript.read(repository) }
    return try repository.transaction { try CommitScript.read($0) }
  }

  @Sendable private static func killedWriter(_ context: ContextUnderTest) throws {
    let store = try context.makeStore(on: .disk)
    let repository = try store.open(.waiting(milliseconds: 300))
    try repository.save(contentsOf: (1...60).map { Account($0, balance: 7) })
    try repository.save(contentsOf: Person.random(10, seed: 71))
    let held = try repository.fetch(Account.self)
    for _ in 0..<3 {
      let worker = try store.worker("hold")
      try worker.wait(for: "holding")
      try expectError(.busy) { try repository.save(Account(1, balance: 8)) }
      try expect(repository.fetch(Account.self).allSatisfy { $0.balance == 7 })
      worker.kill()
      try repository.save(Account(1, balance: 7))
      try expect(repository.fetch(Account.self).allSatisfy { $0.balance == 7 })
      try expect(repository.count(Account.self) == 60 && repository.count(Person.self) == 10)
    }
    try expect(held.count == 60 && held.allSatisfy { $0.balance == 7 })
  }

  @Sendable private static func killedCrowd(_ context: ContextUnderTest) throws {
    let accounts = 60
    let store = try context.makeStore(on: .disk)
    let repository = try store.open(.patient)
    try repository.save(contentsOf: (1...accounts).map { Account($0, balance: 100) })
    var random = SeededGenerator(seed: context.seed ?? 73)
    var acknowledged = 0
    for _ in 0..<context.effort.times(3, thorough: 30) {
      let workers = try (1...2).map { seed in
        try store.worker(
          "transfer", "\(accounts)", "100000", "\(seed + random.int(0...999))", opening: .patient)
      }
      for worker in workers { try worker.wait(for: "ack \(random.int(1...9))") }
      for worker in workers { worker.kill() }
      CheckTrace.count("kills", workers.count)
      acknowledged += workers.reduce(0) { $0 + $1.acknowledged }
      try Bank.audit(repository, accounts: accounts)
      try Bank.audit(store.open(), accounts: accounts)
    }
    let done = try repository.fetch(Account.self).reduce(0) { $0 + $1.transfers } / 2
    let most = acknowledged + 2 * context.effort.times(3, thorough: 30)
    try expect((acknowledged...most).contains(done), "\(done) transfers, \(acknowledged) acknowledged")
  }
}
