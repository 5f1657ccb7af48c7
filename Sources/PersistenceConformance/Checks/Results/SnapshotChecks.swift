import Foundation
import PersistenceCore

/// R2: snapshots.
enum SnapshotChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a result shows the store at the time of its fetch, whatever is written later", [.r2], held),
    ConformanceCheck("a snapshot shows all models at the same moment", [.r2], acrossModels),
    ConformanceCheck(
      "a result does not change while another context on the same store writes", [.r2],
      needs: [.writable, .multiProcess], otherContext),
    ConformanceCheck(
      "after a long history of writes, each earlier result still shows its own state", [.r2], history),
    ConformanceCheck("a slow reader beside a writer sees one consistent state", [.r2], slowReader),
  ]

  private static let count = 400

  /// Replaces, deletes and inserts records, so that every later page differs.
  private static func disturb(_ repository: any PersistentRepository) throws {
    try repository.save(contentsOf: (1...100).map { Account($0 * 2, balance: -1) })
    try repository.filter(Account.self, where: \.id > 250 && \.id < 300).delete()
    try repository.insert(contentsOf: (1...50).map { Account(-$0, balance: -2) })
    try repository.insert(contentsOf: (1...50).map { Account(1000 + $0, balance: -2) })
    try repository.write(Account.self, id: 399) { $0.balance = -3 }
    try repository.delete(Account.self, id: 1)
  }

  private static func whole() -> [Account] { (1...Self.count).map { Account($0, balance: $0 % 10) } }

  @Sendable private static func held(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: whole())
    let all = try repository.filter(Account.self).result()
    let byBalance = try repository.filter(Account.self).sorted(by: \.balance, inOrder: .descending).result()
    let filtered = try repository.filter(Account.self, where: \.balance != 3).result()
    let byNote = try repository.filter(Account.self).sorted(by: \.note).result()
    let counted = try repository.filter(Account.self, where: \.balance >= 0).sorted(by: \.balance).result()
    let half = try repository.filter(Account.self).offset(150).limit(200).result()
    var cursor = all.makeIterator()
    for _ in 0..<130 { _ = cursor.next() }
    try disturb(repository)
    try expect(Array(all), equals: whole())
    try expect(all.count, equals: Self.count)
    try expect(Array(all), equals: whole())
    try expect(cursor.next()?.id, equals: 131)
    var rest = 0
    while cursor.next() != nil { rest += 1 }
    try expect(rest, equals: Self.count - 131)
    try expect(Array(byBalance), equals: whole().sorted { ($0.balance, $0.id) > ($1.balance, $1.id) })
    try expect(Array(filtered), equals: whole().filter { $0.balance != 3 })
    try expect(Array(byNote), equals: whole())
    try expect(counted.count == Self.count && counted.last?.balance == 9)
    try expect(Array(half), equals: Array(whole()[150..<350]))
    try expect(repository.count(Account.self), equals: Self.count + 100 - 49 - 1)
    try expect(repository.filter(Account.self).first()?.id, equals: -50)
    try repository.deleteAll(Account.self)
    try expect(Array(all) == whole() && all.reversed().first?.id == Self.count)
    try expect(repository.fetch(Account.self).isEmpty)
  }

  @Sendable private static func acrossModels(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: whole())
    try repository.save(contentsOf: Person.random(200, seed: 60))
    let storage = try repository.storage
    let snapshot = try storage.snapshot()
    let schema = try Account.schema.model
    let people = try Person.schema.model
    try disturb(repository)
    try repository.deleteAll(Person.self)
    try repository.save(Keyed("new", "model"))
    try expect(snapshot.count(FetchRequest(schema)), equals: Self.count)
    try expect(snapshot.count(FetchRequest(people)), equals: 200)
    try expect(RowStore.rows(of: FetchRequest(people), from: snapshot).count, equals: 200)
    try expect(snapshot.find(RecordKey([.integer(1)]), in: schema) { _ in })
    try expect(snapshot.find(RecordKey([.integer(1001)]), in: schema) { _ in } == false)
    try expect(snapshot.count(FetchRequest(Keyed<String>.schema.model)), equals: 0)
    try expect(snapshot.catalog().map(\.name), equals: ["Account", "Person"])
    try expect(storage.count(FetchRequest(people)), equals: 0)
  }

  @Sendable private static func otherContext(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let first = try store.open()
    try first.save(contentsOf: whole())
    let second = try store.open()
    let held = try first.filter(Account.self).result()
    let sorted = try second.filter(Account.self).sorted(by: \.balance).result()
    try disturb(second)
    try expect(Array(held), equals: whole())
    try expect(first.count(Account.self), equals: Self.count + 50)
    try expect(first.find(Account.self, id: 1) == nil)
    try first.deleteAll(Account.self)
    try expect(Array(held) == whole() && Array(held.suffix(3)).map(\.id) == [398, 399, 400])
    try expect(Array(sorted), equals: whole().sorted { ($0.balance, $0.id) < ($1.balance, $1.id) })
    try expect(second.fetch(Account.self).isEmpty)
    try second.insert(Account(7, balance: 7))
    try expect(first.fetch(Account.self).map(\.id), equals: [7])
  }

  @Sendable private static func history(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: whole())
    var results: [PersistentResults<Account>] = []
    for step in 1...12 {
      try repository.write(Account.self, id: step) { $0.balance = 100 + step }
      try repository.save(Account(Self.count, balance: step))
      results.append(try repository.filter(Account.self).result())
    }
    for (index, result) in results.enumerated().reversed() {
      let step = index + 1
      try expect(result.filter { $0.balance > 100 }.map(\.id), equals: Array(1...step))
      try expect(result.last?.balance, equals: step)
    }
    results.remove(at: 3)
    results.remove(at: 7)
    try repository.deleteAll(Account.self)
    try expect(results[5].count == Self.count && results[0].last?.balance == 1)
  }

  @Sendable private static func slowReader(_ context: ContextUnderTest) throws {
    let accounts = 300
    let repository = try context.makeRepository(
      with: (1...accounts).map { Account($0, balance: 100) }, .patient)
    try Threads.run(2) { number in
      var random = SeededGenerator(seed: 61)
      if number == 0 {
        for _ in 0..<40 { try Bank.transfer(in: repository, accounts: accounts, using: &random) }
        return
      }
      for _ in 0..<4 {
        let result = try repository.filter(Account.self).sorted(by: \.balance).result()
        var sum = 0
        for page in 0..<3 {
          sum += result.dropFirst(page * 100).prefix(100).reduce(0) { $0 + $1.balance }
          usleep(10_000)
        }
        try expect(sum, equals: accounts * 100, "the total")
      }
    }
  }
}
