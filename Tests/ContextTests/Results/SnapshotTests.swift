import ContextTestSupport
import Foundation
import PersistenceCore
import Testing

@Suite("R2: snapshots")
struct SnapshotTests {
  private static let count = 400

  /// Replaces, deletes and inserts, so that every later page is another one.
  private func disturb(_ repository: any PersistentRepository) throws {
    try repository.save(contentsOf: (1...100).map { Account($0 * 2, balance: -1) })
    try repository.filter(Account.self, where: \.id > 250 && \.id < 300).delete()
    try repository.insert(contentsOf: (1...50).map { Account(-$0, balance: -2) })
    try repository.insert(contentsOf: (1...50).map { Account(1000 + $0, balance: -2) })
    try repository.write(Account.self, id: 399) { $0.balance = -3 }
    try repository.delete(Account.self, id: 1)
  }

  private func filled(_ repository: any PersistentRepository) throws {
    try repository.save(contentsOf: (1...Self.count).map { Account($0, balance: $0 % 10) })
  }

  private func whole() -> [Account] { (1...Self.count).map { Account($0, balance: $0 % 10) } }

  @Test(
    "R2 results show the store as it was at the fetch, however much is written afterwards",
    arguments: ContextUnderTest.all)
  func held(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try filled(repository)
    let all = try repository.filter(Account.self).result()
    let byBalance = try repository.filter(Account.self).sorted(by: \.balance, inOrder: .descending).result()
    let filtered = try repository.filter(Account.self, where: \.balance != 3).result()
    let byNote = try repository.filter(Account.self).sorted(by: \.note).result()
    let counted = try repository.filter(Account.self, where: \.balance >= 0).sorted(by: \.balance).result()
    let half = try repository.filter(Account.self).offset(150).limit(200).result()
    var cursor = all.makeIterator()
    for _ in 0..<130 { _ = cursor.next() }
    try disturb(repository)
    #expect(Array(all) == whole())
    #expect(all.count == Self.count)
    #expect(Array(all) == whole())
    #expect(cursor.next()?.id == 131)
    var rest = 0
    while cursor.next() != nil { rest += 1 }
    #expect(rest == Self.count - 131)
    #expect(Array(byBalance) == whole().sorted { ($0.balance, $0.id) > ($1.balance, $1.id) })
    #expect(Array(filtered) == whole().filter { $0.balance != 3 })
    #expect(Array(byNote) == whole())
    #expect(counted.count == Self.count && counted.last?.balance == 9)
    #expect(Array(half) == Array(whole()[150..<350]))
    #expect(try repository.count(Account.self) == Self.count + 100 - 49 - 1)
    #expect(try repository.filter(Account.self).first()?.id == -50)
    try repository.deleteAll(Account.self)
    #expect(Array(all) == whole() && all.reversed().first?.id == Self.count)
    #expect(try repository.fetch(Account.self).isEmpty)
  }

  @Test("R2 a snapshot shows all models at one moment", arguments: ContextUnderTest.all)
  func acrossModels(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try filled(repository)
    try repository.save(contentsOf: Person.random(200, seed: 60))
    let storage = try repository.storage
    let snapshot = try storage.snapshot()
    let schema = try Account.schema.model
    let people = try Person.schema.model
    try disturb(repository)
    try repository.deleteAll(Person.self)
    try repository.save(Keyed("new", "model"))
    #expect(try snapshot.count(FetchRequest(schema)) == Self.count)
    #expect(try snapshot.count(FetchRequest(people)) == 200)
    #expect(try RowStore.rows(of: FetchRequest(people), from: snapshot).count == 200)
    #expect(try snapshot.find(RecordKey([.integer(1)]), in: schema) { _ in })
    #expect(try snapshot.find(RecordKey([.integer(1001)]), in: schema) { _ in } == false)
    #expect(try snapshot.count(FetchRequest(Keyed<String>.schema.model)) == 0)
    #expect(try snapshot.catalog().map(\.name) == ["Account", "Person"])
    #expect(try storage.count(FetchRequest(people)) == 0)
  }

  @Test(
    "R2 a result stands still while another context on the same store writes",
    arguments: ContextUnderTest.multiProcess("R2 with two contexts on one store"))
  func otherContext(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let first = try store.open()
    try filled(first)
    let second = try store.open()
    let held = try first.filter(Account.self).result()
    let sorted = try second.filter(Account.self).sorted(by: \.balance).result()
    try disturb(second)
    #expect(Array(held) == whole())
    #expect(try first.count(Account.self) == Self.count + 50)
    #expect(try first.find(Account.self, id: 1) == nil)
    try first.deleteAll(Account.self)
    #expect(Array(held) == whole() && Array(held.suffix(3)).map(\.id) == [398, 399, 400])
    #expect(Array(sorted) == whole().sorted { ($0.balance, $0.id) < ($1.balance, $1.id) })
    #expect(try second.fetch(Account.self).isEmpty)
    try second.insert(Account(7, balance: 7))
    #expect(try first.fetch(Account.self).map(\.id) == [7])
  }

  @Test(
    "R2 every step of a long history can still be read by the result that was made there",
    arguments: ContextUnderTest.all)
  func history(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try filled(repository)
    var results: [PersistentResults<Account>] = []
    for step in 1...12 {
      try repository.write(Account.self, id: step) { $0.balance = 100 + step }
      try repository.save(Account(Self.count, balance: step))
      results.append(try repository.filter(Account.self).result())
    }
    for (index, result) in results.enumerated().reversed() {
      let step = index + 1
      #expect(result.filter { $0.balance > 100 }.map(\.id) == Array(1...step))
      #expect(result.last?.balance == step)
    }
    results.remove(at: 3)
    results.remove(at: 7)
    try repository.deleteAll(Account.self)
    #expect(results[5].count == Self.count && results[0].last?.balance == 1)
  }

  @Test("R2 a reader that walks slowly beside a writer sees one moment", arguments: ContextUnderTest.all)
  func slowReader(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(["busy": "60s"])
    let accounts = 300
    try repository.save(contentsOf: (1...accounts).map { Account($0, balance: 100) })
    let outcomes = Threads.run(2) { number -> String? in
      do {
        var random = SeededGenerator(seed: 61)
        if number == 0 {
          for _ in 0..<40 { try Bank.transfer(in: repository, accounts: accounts, using: &random) }
          return nil
        }
        for _ in 0..<4 {
          let result = try repository.filter(Account.self).sorted(by: \.balance).result()
          var sum = 0
          for page in 0..<3 {
            sum += result.dropFirst(page * 100).prefix(100).reduce(0) { $0 + $1.balance }
            usleep(10_000)
          }
          if sum != accounts * 100 { return "torn: \(sum)" }
        }
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(outcomes.compactMap(\.self) == [])
  }
}
