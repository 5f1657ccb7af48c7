import Foundation
import PersistenceCore

/// S5: long chains of changes, with and without kills.
enum SuccessionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a long chain of changes ends with the records of the last version, and each version is complete",
      [.s5, .s2], needs: [.writable, .droppingModels], chain),
    ConformanceCheck(
      "after a kill while schemas change, the store has one complete version", [.s5, .w5],
      needs: [.writable, .durable, .droppingModels], kills),
    ConformanceCheck(
      "after a kill while an app's next versions open a store, it is that of one version, whole", [.s5, .w5],
      needs: [.writable, .durable, .droppingModels], killedUpgrades),
  ]

  @Sendable private static func chain(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    for number in 0...33 {
      try Succession.apply(number, to: repository.storage)
      try expect(Succession.read(repository.storage), equals: number)
      if number % 10 == 9 { try store.reopen(&repository) }
      try expect(Succession.read(repository.storage), equals: number, "after reopening")
    }
  }

  @Sendable private static func killedUpgrades(_ context: ContextUnderTest) throws {
    var random = SeededGenerator(seed: context.seed ?? 77)
    let store = try context.makeStore(on: .disk)
    let first = try store.open()
    for number in 0...5 {
      try Upgrades.apply(number, to: first)
      try expect(Upgrades.version(of: first), equals: number % 3)
    }
    try first.close()
    var number = 5
    for _ in 0..<context.effort.times(4, thorough: 200) {
      let worker = try store.worker("upgrade", "\(number)")
      try worker.wait(for: "ack \(number + random.int(1...5))")
      usleep(UInt32(random.int(0...20_000)))
      worker.kill()
      CheckTrace.count("kills", 1)
      try expect(!worker.lines.contains { $0.hasPrefix("error") }, "\(worker.lines.suffix(2))")
      number = max(number, worker.acknowledged)
      let repository = try store.open()
      let found = try Upgrades.version(of: repository)
      try expect([number % 3, (number + 1) % 3].contains(found), "\(found) after \(number)")
      if found != number % 3 { number += 1 }
      number += 1
      try Upgrades.apply(number, to: repository)
      try expect(Upgrades.version(of: repository), equals: number % 3, "the opening after a kill")
      try repository.close()
    }
  }

  @Sendable private static func kills(_ context: ContextUnderTest) throws {
    var random = SeededGenerator(seed: context.seed ?? 76)
    let store = try context.makeStore(on: .disk)
    let first = try store.open()
    try Succession.apply(0, to: first.storage)
    try first.close()
    var number = 0
    for _ in 0..<context.effort.times(5, thorough: 200) {
      let worker = try store.worker("evolve", "\(number)")
      try worker.wait(for: "ack \(number + random.int(1...6))")
      usleep(UInt32(random.int(0...20_000)))
      worker.kill()
      CheckTrace.count("kills", 1)
      try expect(!worker.lines.contains { $0.hasPrefix("error") }, "\(worker.lines.suffix(2))")
      let acknowledged = max(number, worker.acknowledged)
      let repository = try store.open()
      let found = try Succession.read(repository.storage)
      try expect([acknowledged, acknowledged + 1].contains(found), "\(found) of \(acknowledged)")
      try Succession.apply(found + 1, to: repository.storage)
      try expect(Succession.read(repository.storage), equals: found + 1)
      number = found + 1
      try repository.close()
    }
  }
}
