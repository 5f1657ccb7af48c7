import PersistenceCore

/// W3: transactions.
enum TransactionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("a transaction commits as a whole, across models", [.w3], commit),
    ConformanceCheck(
      "an error rolls back all records and index entries, and is rethrown unchanged", [.w3], rollback),
    ConformanceCheck(
      "find, fetch, count, indexes, orders and pages see the transaction's own writes", [.w3], ownWrites),
    ConformanceCheck("a nested transaction that throws rolls back only its own writes", [.w3], nested),
    ConformanceCheck(
      "when the outer transaction throws, completed nested transactions roll back too", [.w3],
      nestedAndRolledBack),
    ConformanceCheck("deeply nested transactions work", [.w3], deepNest),
    ConformanceCheck(
      "an error that the closure catches does not roll back, and the closure's result is returned", [.w3],
      swallowed),
    ConformanceCheck("a transaction rejects use after its end", [.w3], afterEnd),
    ConformanceCheck("a transaction without changes succeeds", [.w3], empty),
  ]

  private static func filled(_ context: ContextUnderTest) throws -> Repository {
    let repository = try context.makeRepository(with: (1...10).map { Account($0, balance: 100) })
    try repository.save(contentsOf: Person.random(20, seed: 50))
    return repository
  }

  private static func state(_ repository: any PersistentRepository) throws -> [String] {
    try repository.fetch(Account.self).map { "\($0)" } + repository.fetch(Person.self).map { "\($0)" }
      + repository.filter(Account.self, where: \.balance >= 0).sorted(by: \.balance).result().map {
        "\($0.id)"
      }
      + repository.filter(Person.self, where: \.email != nil).sorted(by: \.email).ids()
      + repository.filter(Person.self, where: \.age >= 0).sorted(by: \.age).ids()
  }

  @Sendable private static func commit(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    let sum = try repository.transaction { store in
      try store.write(Account.self, id: 1) { $0.balance -= 30 }
      try store.write(Account.self, id: 2) { $0.balance += 30 }
      try store.deleteAll(Person.self)
      try store.insert(Person("new"))
      return try store.fetch(Account.self).reduce(0) { $0 + $1.balance }
    }
    try expect(sum, equals: 1000)
    try expect(repository.find(Account.self, id: 1)?.balance, equals: 70)
    try expect(repository.find(Account.self, id: 2)?.balance, equals: 130)
    try expect(repository.fetch(Person.self).map(\.id), equals: ["new"])
  }

  @Sendable private static func rollback(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    let before = try state(repository)
    try expectThrows(SuiteError()) {
      try repository.transaction { store in
        try store.save(contentsOf: (5...200).map { Account($0, balance: 1) })
        try store.write(Account.self, id: 1) { $0.balance = 7 }
        try expect(store.delete(Account.self, id: 2))
        try store.deleteAll(Person.self)
        try store.insert(Person("new", email: "1@example.org"))
        try store.insert(Keyed("never", "defined before"))
        throw SuiteError()
      }
    }
    try expect(state(repository), equals: before)
    try expect(repository.count(Keyed<String>.self), equals: 0)
    try expect(repository.filter(Account.self, where: \.balance == 1).count(), equals: 0)
    // A rolled-back record does not block its key.
    try repository.insert(Keyed("never", "now"))
    try repository.insert(Person("new", email: "new@example.org"))
    try repository.insert(Account(11, balance: 1))
    try expect(repository.filter(Account.self, where: \.balance == 1).count(), equals: 1)
  }

  @Sendable private static func ownWrites(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    try repository.transaction { store in
      try store.insert(Account(50, balance: 500))
      try store.write(Account.self, id: 3) { $0.balance = 400 }
      try expect(store.delete(Account.self, id: 4))
      try expect(store.find(Account.self, id: 50)?.balance, equals: 500)
      try expect(store.find(Account.self, id: 4) == nil)
      try expect(store.count(Account.self), equals: 10)
      try expect(
        store.filter(Account.self, where: \.balance > 100).sorted(by: \.balance, inOrder: .descending)
          .ids(), equals: [50, 3])
      try expect(store.filter(Account.self, where: \.balance == 100).count(), equals: 8)
      try expect(store.filter(Account.self).after(Account(9, balance: 0)).ids(), equals: [10, 50])
      try expect(store.filter(Account.self, where: \.balance > 100).delete(), equals: 2)
      try expect(store.fetch(Account.self).map(\.id), equals: [1, 2, 5, 6, 7, 8, 9, 10])
      try expectError(.notFound) { try store.update(Account(50, balance: 1)) }
      try store.insert(Account(50, balance: 2))
    }
    try expect(repository.fetch(Account.self).map(\.id), equals: [1, 2, 5, 6, 7, 8, 9, 10, 50])
  }

  @Sendable private static func nested(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    try repository.transaction { store in
      try store.insert(Account(20, balance: 1))
      try expectThrows(SuiteError()) {
        try store.transaction { inner in
          try inner.insert(Account(21, balance: 1))
          try inner.deleteAll(Person.self)
          try inner.write(Account.self, id: 20) { $0.balance = 2 }
          try inner.transaction { innermost in try innermost.insert(Account(22, balance: 1)) }
          try expect(inner.fetch(Account.self).count, equals: 13)
          throw SuiteError()
        }
      }
      try expect(store.find(Account.self, id: 20)?.balance, equals: 1)
      try expect(store.count(Account.self), equals: 11)
      try expect(store.filter(Account.self, where: \.balance <= 2).ids(), equals: [20])
      try store.transaction { inner in
        try inner.insert(Account(23, balance: 1))
        try expectThrows(SuiteError()) {
          try inner.transaction { innermost in
            try expect(innermost.delete(Account.self, id: 23))
            throw SuiteError()
          }
        }
      }
      try expect(store.count(Person.self), equals: 20)
    }
    try expect(repository.filter(Account.self, where: \.balance == 1).ids(), equals: [20, 23])
    try expect(repository.count(Person.self), equals: 20)
  }

  @Sendable private static func nestedAndRolledBack(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    let before = try state(repository)
    try expectThrows(SuiteError()) {
      try repository.transaction { store in
        try store.transaction { try $0.insert(Account(20, balance: 1)) }
        try store.transaction { try $0.transaction { try $0.deleteAll(Person.self) } }
        throw SuiteError()
      }
    }
    try expect(state(repository), equals: before)
  }

  @Sendable private static func deepNest(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    func descend(_ store: any PersistentRepository, _ depth: Int) throws {
      try store.insert(Account(100 + depth, balance: depth))
      if depth == 20 { throw SuiteError() }
      do {
        try store.transaction { try descend($0, depth + 1) }
      } catch is SuiteError where depth == 15 {
        // The inner five roll back; the outer fifteen continue.
      }
    }
    try repository.transaction { try descend($0, 1) }
    try expect(repository.filter(Account.self, where: \.id > 100).ids(), equals: Array(101...115))
  }

  @Sendable private static func swallowed(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    let text = try repository.transaction { store in
      try expectError(.duplicateKey) { try store.insert(Account(1, balance: 1)) }
      try store.insert(Account(11, balance: 1))
      return "done"
    }
    try expect(text, equals: "done")
    try expect(repository.count(Account.self), equals: 11)
  }

  @Sendable private static func afterEnd(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    let kept = try repository.transaction { $0 }
    try expectError(.closed) { try kept.insert(Account(11, balance: 1)) }
    try expectError(.closed) { try kept.fetch(Account.self) }
    try expectError(.closed) { try kept.transaction { _ in } }
    try expect(repository.count(Account.self), equals: 10)
  }

  @Sendable private static func empty(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    try repository.transaction { _ in }
    let count = try repository.transaction { try $0.count(Account.self) }
    try expect(count, equals: 10)
  }
}
