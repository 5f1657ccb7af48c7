import Dispatch
import PersistenceCore

/// R3: closing.
enum ClosingChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("after close, every call throws closed; closing twice does nothing", [.r3], closed),
    ConformanceCheck(
      "closing while a result is alive waits or is refused; the result stays readable until then", [.r3],
      withResults),
    ConformanceCheck(
      "closing during a transaction lets it finish or rejects it as a whole", [.r3],
      needs: [.writable, .durable], besideTransaction),
  ]

  @Sendable private static func closed(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(Account(1, balance: 1))
    try repository.close()
    try repository.close()
    try expectError(.closed) { try repository.fetch(Account.self) }
    try expectError(.closed) { try repository.find(Account.self, id: 1) }
    try expectError(.closed) { try repository.count(Account.self) }
    try expectError(.closed) { try repository.save(Account(1, balance: 1)) }
    try expectError(.closed) { try repository.delete(Account(1, balance: 1)) }
    try expectError(.closed) { try repository.transaction { _ in } }
    try expectError(.closed) { try repository.storage.snapshot() }
    try expectError(.closed) { try repository.storage.catalog() }
    try expectError(.closed) { try repository.storage.plan(for: FetchRequest(Account.schema.model)) }
  }

  @Sendable private static func withResults(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    try repository.save(contentsOf: (1...500).map { Account($0, balance: $0) })
    let small = try repository.filter(Account.self, where: \.id <= 5).result()
    var held: PersistentResults<Account>? = try repository.filter(Account.self).result()
    let group = DispatchGroup()
    let closing = WaitingThread(in: group) { try? repository.close() }
    try closing.waitUntilAsleepOrOver()
    // Uses the throwing route, because a plain loop over a closed result stops the process.
    var read: [Int] = []
    try held?.forEach { read.append($0.id) }
    try expect(read, equals: Array(1...500))
    try expect(held?.count == 500 && held?.last?.id == 500)
    held = nil
    group.wait()
    try repository.close()
    try expectError(.closed) { try repository.count(Account.self) }
    try expect(small.map(\.id), equals: [1, 2, 3, 4, 5])
    if try repository.storage.capabilities.isDurable {
      let again = try store.open()
      try expect(again.count(Account.self), equals: 500)
    }
  }

  @Sendable private static func besideTransaction(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    try repository.save(Account(1, balance: 1))
    let group = DispatchGroup()
    var expected = [1]
    do {
      try repository.transaction { inner in
        try inner.save(Account(2, balance: 2))
        let closing = WaitingThread(in: group) { try? repository.close() }
        try closing.waitUntilAsleepOrOver()
        try inner.save(Account(3, balance: 3))
      }
      expected = [1, 2, 3]
    } catch {
      try expect((error as? PersistenceError)?.code, equals: .closed, "\(error)")
    }
    group.wait()
    try repository.close()
    let again = try store.open()
    try expect(again.fetch(Account.self).map(\.id), equals: expected)
  }
}
