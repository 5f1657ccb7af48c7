import ContextTestSupport
import Foundation
import PersistenceCore
import Testing

@Suite("C1 W2: many threads")
struct ConcurrencyTests {
  @Test(
    "W2 of concurrent changes to one record, to the same and to different fields, none is lost",
    arguments: ContextUnderTest.all)
  func lostUpdates(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(["busy": "60s"])
    try repository.save(Account(1, balance: 0))
    let failures = Threads.run(6) { number -> String? in
      do {
        for _ in 0..<15 {
          try repository.write(Account.self, id: 1) { account in
            account.transfers += 1
            if number.isMultiple(of: 2) { account.balance += 1 } else { account.note += "x" }
          }
        }
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(failures.compactMap(\.self) == [])
    let account = try #require(try repository.find(Account.self, id: 1))
    #expect(account.transfers == 90 && account.balance == 45 && account.note.count == 45)
  }

  @Test(
    "C1 W3 R2 a bank under many threads: no money is lost, and no reader ever sees a half-done transfer",
    arguments: ContextUnderTest.all)
  func bank(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(["busy": "60s"])
    let accounts = 150
    try repository.save(contentsOf: (1...accounts).map { Account($0, balance: 100) })
    let failures = Threads.run(6) { number -> String? in
      do {
        var random = SeededGenerator(seed: UInt64(number))
        if number < 4 {
          for _ in 0..<20 { try Bank.transfer(in: repository, accounts: accounts, using: &random) }
        } else {
          for _ in 0..<20 { try Bank.audit(repository, accounts: accounts) }
        }
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(failures.compactMap(\.self) == [])
    try Bank.audit(repository, accounts: accounts)
    #expect(try repository.fetch(Account.self).reduce(0) { $0 + $1.transfers } == 160)
  }

  @Test(
    "C1 threads that append to lists see every append exactly once, in one order",
    arguments: ContextUnderTest.all)
  func listAppend(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(["busy": "60s"])
    try repository.save(Person("list"))
    let failures = Threads.run(4) { number -> String? in
      do {
        for step in 0..<10 {
          let before = try repository.find(Person.self, id: "list")?.tags ?? []
          let after = try repository.write(Person.self, id: "list") { $0.tags.append("\(number)-\(step)") }
            .tags
          guard after.starts(with: before), after.last == "\(number)-\(step)" else {
            return "torn: \(before) \(after)"
          }
        }
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(failures.compactMap(\.self) == [])
    let tags = try #require(try repository.find(Person.self, id: "list")).tags
    #expect(Set(tags).count == 40 && tags.count == 40)
    for number in 0..<4 {
      #expect(tags.filter { $0.hasPrefix("\(number)-") } == (0..<10).map { "\(number)-\($0)" })
    }
  }

  @Test("C1 models are defined by several threads at once", arguments: ContextUnderTest.all)
  func definitions(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(["busy": "60s"])
    let failures = Threads.run(6) { number -> String? in
      do {
        try repository.save(Account(number, balance: number))
        try repository.save(Person("\(number)"))
        try repository.save(Keyed(number, "x"))
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(failures.compactMap(\.self) == [])
    #expect(try repository.count(Account.self) == 6 && repository.count(Person.self) == 6)
    #expect(try repository.count(Keyed<Int>.self) == 6)
  }

  @Test("C1 tasks may use a repository, and a result crosses between them", arguments: ContextUnderTest.all)
  func tasks(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: (1...500).map { Account($0, balance: $0) })
    let result = try repository.filter(Account.self).result()
    let sums = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<4 { group.addTask { result.reduce(0) { $0 + $1.balance } } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(sums == Array(repeating: 500 * 501 / 2, count: 4))
  }
}
