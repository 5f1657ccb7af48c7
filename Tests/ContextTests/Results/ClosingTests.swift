import ContextTestSupport
import Dispatch
import PersistenceCore
import Testing

@Suite("R3: closing")
struct ClosingTests {
  @Test(
    "R3 a closed context throws closed, for every call; closing twice does nothing",
    arguments: ContextUnderTest.all)
  func closed(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(Account(1, balance: 1))
    try repository.close()
    try repository.close()
    expectError(.closed) { try repository.fetch(Account.self) }
    expectError(.closed) { try repository.find(Account.self, id: 1) }
    expectError(.closed) { try repository.count(Account.self) }
    expectError(.closed) { try repository.save(Account(1, balance: 1)) }
    expectError(.closed) { try repository.delete(Account(1, balance: 1)) }
    expectError(.closed) { try repository.transaction { _ in } }
    expectError(.closed) { try repository.storage.snapshot() }
    expectError(.closed) { try repository.storage.catalog() }
  }

  @Test(
    "R3 closing while a result lives refuses or waits, and does not pull the ground away",
    arguments: ContextUnderTest.all)
  func withResults(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    try repository.save(contentsOf: (1...500).map { Account($0, balance: $0) })
    let small = try repository.filter(Account.self, where: \.id <= 5).result()
    var held: PersistentResults<Account>? = try repository.filter(Account.self).result()
    let group = DispatchGroup()
    let closing = WaitingThread(in: group) { try? repository.close() }
    try closing.waitUntilAsleepOrOver()
    #expect(held?.map(\.id) == Array(1...500))
    #expect(held?.count == 500 && held?.last?.id == 500)
    held = nil
    group.wait()
    try repository.close()
    expectError(.closed) { try repository.count(Account.self) }
    #expect(small.map(\.id) == [1, 2, 3, 4, 5])
    if try repository.storage.capabilities.isDurable {
      let again = try store.open()
      #expect(try again.count(Account.self) == 500)
    }
  }

  @Test(
    "R3 a context that is closed beside a transaction under way lets it finish, or refuses it whole",
    arguments: ContextUnderTest.durable("R3 closing beside a transaction"))
  func besideTransaction(context: ContextUnderTest) throws {
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
      #expect((error as? PersistenceError)?.code == .closed, "\(error)")
    }
    group.wait()
    try repository.close()
    let again = try store.open()
    #expect(try again.fetch(Account.self).map(\.id) == expected)
  }
}
