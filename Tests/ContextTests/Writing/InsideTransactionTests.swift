import ContextTestSupport
import Foundation
import PersistenceCore
import Testing

@Suite("R1a: inside a transaction")
struct InsideTransactionTests {
  private func filled(_ context: ContextUnderTest) throws -> Repository {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: (1...400).map { Account($0, balance: 100) })
    return repository
  }

  @Test(
    "R1a a result fetched inside is complete at once, and stays valid through writes and after the end",
    arguments: ContextUnderTest.all)
  func materialised(context: ContextUnderTest) throws {
    let repository = try filled(context)
    let (early, late) = try repository.transaction { store in
      let early = try store.fetch(Account.self)
      try store.deleteAll(Account.self)
      #expect(early.count == 400 && early.map(\.id) == Array(1...400))
      try store.save(contentsOf: (1...200).map { Account($0, balance: 7) })
      return (early, try store.filter(Account.self).sorted(by: \.id, inOrder: .descending).result())
    }
    try repository.deleteAll(Account.self)
    #expect(early.map(\.balance) == Array(repeating: 100, count: 400))
    #expect(late.map(\.id) == Array(1...200).reversed() && late.first?.balance == 7)
  }

  @Test(
    "R1a a result fetched inside a transaction that is rolled back keeps what it showed",
    arguments: ContextUnderTest.all)
  func rolledBack(context: ContextUnderTest) throws {
    let repository = try filled(context)
    var kept: PersistentResults<Account>?
    #expect(throws: Refusal()) {
      try repository.transaction { store in
        try store.insert(Account(401, balance: 1))
        kept = try store.filter(Account.self).result()
        throw Refusal()
      }
    }
    #expect(kept?.count == 401)
    #expect(try repository.count(Account.self) == 400)
  }

  @Test(
    "R1a the outer repository throws insideTransaction instead of waiting for itself",
    arguments: ContextUnderTest.all)
  func outer(context: ContextUnderTest) throws {
    let repository = try filled(context)
    try repository.transaction { store in
      expectError(.insideTransaction) { try repository.save(Account(1, balance: 0)) }
      expectError(.insideTransaction) { try repository.fetch(Account.self) }
      expectError(.insideTransaction) { try repository.find(Account.self, id: 1) }
      expectError(.insideTransaction) { try repository.count(Account.self) }
      expectError(.insideTransaction) { try repository.delete(Account(1, balance: 0)) }
      expectError(.insideTransaction) { try repository.transaction { _ in } }
      expectError(.insideTransaction) { try repository.storage.transaction { _ in } }
      try store.transaction { _ in
        _ = expectError(.insideTransaction) { try repository.deleteAll(Account.self) }
      }
      try store.write(Account.self, id: 1) { _ in
        expectError(.insideTransaction) { try repository.count(Account.self) }
      }
      try store.save(Account(1, balance: 5))
    }
    try repository.write(Account.self, id: 2) { _ in
      expectError(.insideTransaction) { try repository.save(Account(2, balance: 0)) }
    }
    #expect(try repository.find(Account.self, id: 1)?.balance == 5)
    #expect(try repository.find(Account.self, id: 2)?.balance == 100)
  }

  @Test("R1a two stores may be written in one another's transactions", arguments: ContextUnderTest.all)
  func twoStores(context: ContextUnderTest) throws {
    let first = try filled(context)
    let second = try context.makeStore().open()
    try first.transaction { one in
      try second.transaction { other in
        try other.save(contentsOf: one.fetch(Account.self))
        try one.deleteAll(Account.self)
        expectError(.insideTransaction) { try first.count(Account.self) }
        expectError(.insideTransaction) { try second.count(Account.self) }
      }
      #expect(try second.count(Account.self) == 400)
    }
    #expect(try first.count(Account.self) == 0)
  }

  @Test(
    "R1a a transaction belongs to its thread; another one that uses it is refused",
    arguments: ContextUnderTest.all)
  func otherThread(context: ContextUnderTest) throws {
    let repository = try filled(context)
    try repository.transaction { store in
      let results = Threads.run(1) { _ in
        expectError(.insideTransaction) { try store.count(Account.self) } != nil
      }
      #expect(results == [true])
    }
    // Other threads read the outer repository meanwhile: readers never wait for writers.
    try repository.transaction { store in
      try store.deleteAll(Account.self)
      let counts = Threads.run(2) { _ in try? repository.count(Account.self) }
      #expect(counts == [400, 400])
    }
    #expect(try repository.count(Account.self) == 0)
  }
}
