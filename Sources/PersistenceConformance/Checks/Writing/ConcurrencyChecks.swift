import Foundation
import PersistenceCore

/// C1 W2: many threads.
enum ConcurrencyChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "concurrent changes to one record, in the same or different fields, lose no update", [.w2], lostUpdates),
    ConformanceCheck(
      "bank transfers on many threads lose no money, and no reader sees half a transfer",
      [.c1, .w3, .r2], bank),
    ConformanceCheck(
      "threads that append to lists see every append exactly once, in one order", [.c1], listAppend),
    ConformanceCheck("several threads can define models at once", [.c1], definitions),
    ConformanceCheck(
      asynchronous: "tasks can share a repository, and a result can cross between them", [.c1], tasks),
  ]

  @Sendable private static func lostUpdates(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(.patient)
    try repository.save(Account(1, balance: 0))
    try Threads.run(6) { number in
      for _ in 0..<15 {
        try repository.write(Account.self, id: 1) { account in
          account.transfers += 1
          if number.isMultiple(of: 2) { account.balance += 1 } else { account.note += "x" }
        }
      }
    }
    let account = try require(repository.find(Account.self, id: 1))
    try expect(account.transfers == 90 && account.balance == 45 && account.note.count == 45)
  }

  @Sendable private static func bank(_ context: ContextUnderTest) throws {
    let accounts = 150
    let repository = try context.makeRepository(
      with: (1...accounts).map { Account($0, balance: 100) }, .patient)
    try Threads.run(6) { number in
      var random = SeededGenerator(seed: UInt64(number))
      if number < 4 {
        for _ in 0..<20 { try Bank.transfer(in: repository, accounts: accounts, using: &random) }
      } else {
        for _ in 0..<20 { try Bank.audit(repository, accounts: accounts) }
      }
    }
    try Bank.audit(repository, accounts: accounts)
    try expect(repository.fetch(Account.self).reduce(0) { $0 + $1.transfers }, equals: 160)
  }

  @Sendable private static func listAppend(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(.patient)
    try repository.save(Person("list"))
    try Threads.run(4) { number in
      for step in 0..<10 {
        let before = try repository.find(Person.self, id: "list")?.tags ?? []
        let after = try repository.write(Person.self, id: "list") { $0.tags.append("\(number)-\(step)") }
          .tags
        let isWhole = after.starts(with: before) && after.last == "\(number)-\(step)"
        try expect(isWhole, "torn: \(before) \(after)")
      }
    }
    let tags = try require(repository.find(Person.self, id: "list")).tags
    try expect(Set(tags).count == 40 && tags.count == 40)
    for number in 0..<4 {
      try expect(tags.filter { $0.hasPrefix("\(number)-") }, equals: (0..<10).map { "\(number)-\($0)" })
    }
  }

  @Sendable private static func definitions(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(.patient)
    try Threads.run(6) { number in
      try repository.save(Account(number, balance: number))
      try repository.save(Person("\(number)"))
      try repository.save(Keyed(number, "x"))
    }
    try expect(repository.count(Account.self) == 6 && repository.count(Person.self) == 6)
    try expect(repository.count(Keyed<Int>.self), equals: 6)
  }

  @Sendable private static func tasks(_ context: ContextUnderTest) async throws {
    let repository = try context.makeRepository(with: (1...500).map { Account($0, balance: $0) })
    let result = try repository.filter(Account.self).result()
    let sums = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<4 { group.addTask { result.reduce(0) { $0 + $1.balance } } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    try expect(sums, equals: Array(repeating: 500 * 501 / 2, count: 4))
  }
}
