import Foundation
import PersistenceCore

/// R1a: inside a transaction.
enum InsideTransactionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a result fetched inside a transaction is complete at once, and stays valid after writes"
        + " and after the end", [.r1a], materialised),
    ConformanceCheck(
      "a result fetched inside a transaction keeps its rows after a rollback", [.r1a], rolledBack),
    ConformanceCheck(
      "inside a transaction, the outer repository throws insideTransaction and does not deadlock", [.r1a],
      outer),
    ConformanceCheck("a transaction on one store can contain a transaction on another", [.r1a], twoStores),
    ConformanceCheck(
      "inside a transaction, a write whose closure throws rolls back only that write",
      [.w2, .w3], thrownInside),
    ConformanceCheck(
      "a transaction belongs to its thread; use from another thread is rejected", [.r1a], otherThread),
  ]

  private static func filled(_ context: ContextUnderTest) throws -> Repository {
    try context.makeRepository(with: (1...400).map { Account($0, balance: 100) })
  }

  @Sendable private static func materialised(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    let (early, late) = try repository.transaction { store in
      let early = try store.filter(Account.self).result()
      try store.deleteAll(Account.self)
      try expect(early.count == 400 && early.map(\.id) == Array(1...400))
      try expect(early.checkedArray().map(\.id), equals: Array(1...400), "an array")
      try expect(Array(early.dropFirst(10)).map(\.id), equals: Array(11...400), "an array of a slice")
      try store.save(contentsOf: (1...200).map { Account($0, balance: 7) })
      return (early, try store.filter(Account.self).sorted(by: \.id, inOrder: .descending).result())
    }
    try repository.deleteAll(Account.self)
    try expect(early.map(\.balance), equals: Array(repeating: 100, count: 400))
    try expect(late.map(\.id) == Array(1...200).reversed() && late.first?.balance == 7)
  }

  @Sendable private static func rolledBack(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    var kept: PersistentResults<Account>?
    try expectThrows(SuiteError()) {
      try repository.transaction { store in
        try store.insert(Account(401, balance: 1))
        kept = try store.filter(Account.self).result()
        throw SuiteError()
      }
    }
    try expect(kept?.count, equals: 401)
    try expect(repository.count(Account.self), equals: 400)
  }

  @Sendable private static func outer(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    try repository.transaction { store in
      try expectError(.insideTransaction) { try repository.save(Account(1, balance: 0)) }
      try expectError(.insideTransaction) { try repository.fetch(Account.self) }
      try expectError(.insideTransaction) { try repository.find(Account.self, id: 1) }
      try expectError(.insideTransaction) { try repository.count(Account.self) }
      try expectError(.insideTransaction) { try repository.delete(Account(1, balance: 0)) }
      try expectError(.insideTransaction) { try repository.transaction { _ in } }
      try expectError(.insideTransaction) { try repository.storage.transaction { _ in } }
      _ = try store.transaction { _ in
        try expectError(.insideTransaction) { try repository.deleteAll(Account.self) }
      }
      try store.write(Account.self, id: 1) { _ in
        try expectError(.insideTransaction) { try repository.count(Account.self) }
      }
      try store.save(Account(1, balance: 5))
    }
    try repository.write(Account.self, id: 2) { _ in
      try expectError(.insideTransaction) { try repository.save(Account(2, balance: 0)) }
    }
    try expect(repository.find(Account.self, id: 1)?.balance, equals: 5)
    try expect(repository.find(Account.self, id: 2)?.balance, equals: 100)
  }

  @Sendable private static func twoStores(_ context: ContextUnderTest) throws {
    let first = try filled(context)
    let second = try context.makeStore().open()
    try first.transaction { one in
      try second.transaction { other in
        try other.save(contentsOf: one.fetch(Account.self))
        try one.deleteAll(Account.self)
        try expectError(.insideTransaction) { try first.count(Account.self) }
        try expectError(.insideTransaction) { try second.count(Account.self) }
      }
      try expect(second.count(Account.self), equals: 400)
    }
    try expect(first.count(Account.self), equals: 0)
  }

  @Sendable private static func thrownInside(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    try repository.transaction { store in
      try store.insert(Account(500, balance: 5))
      try expectThrows(SuiteError()) {
        try store.write(Account.self, id: 1) { account in
          account.balance = 0
          try store.insert(Account(501, balance: 0))
          try store.delete(Account.self, id: 2)
          try store.filter(Account.self, where: \.id > 2).delete()
          throw SuiteError()
        }
      }
      // A write that cannot be saved rolls back too: a changed key or a deleted record.
      try expectError(.invalidRequest) {
        try store.write(Account.self, id: 1) { account in
          try store.insert(Account(502, balance: 0))
          account.id = 503
        }
      }
      try expectError(.notFound) {
        try store.write(Account.self, id: 3) { _ in try store.delete(Account.self, id: 3) }
      }
      try store.write(Account.self, id: 2) { account in
        try store.insert(Account(504, balance: 5))
        account.balance = 95
      }
      try expect(store.count(Account.self), equals: 402)
    }
    try expect(repository.filter(Account.self, where: \.balance != 100).ids(), equals: [2, 500, 504])
    try expect(repository.count(Account.self), equals: 402)
  }

  @Sendable private static func otherThread(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    try repository.transaction { store in
      let results = try Threads.run(1) { _ in
        try expectError(.insideTransaction) { try store.count(Account.self) }.code
      }
      try expect(results, equals: [.insideTransaction])
    }
    // Other threads read the outer repository meanwhile, because readers never wait for writers.
    try repository.transaction { store in
      try store.deleteAll(Account.self)
      let counts = try Threads.run(2) { _ in try? repository.count(Account.self) }
      try expect(counts, equals: [400, 400])
    }
    try expect(repository.count(Account.self), equals: 0)
  }
}
