import ContextTestSupport
import PersistenceCore
import Testing

@Suite("W3: transactions")
struct TransactionTests {
  private func filled(_ context: ContextUnderTest) throws -> Repository {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: (1...10).map { Account($0, balance: 100) })
    try repository.save(contentsOf: Person.random(20, seed: 50))
    return repository
  }

  /// Everything that a store holds of the two models, also as its indexes say.
  private func state(_ repository: any PersistentRepository) throws -> [String] {
    try repository.fetch(Account.self).map { "\($0)" } + repository.fetch(Person.self).map { "\($0)" }
      + repository.filter(Account.self, where: \.balance >= 0).sorted(by: \.balance).result().map {
        "\($0.id)"
      }
      + repository.filter(Person.self, where: \.email != nil).sorted(by: \.email).result().map(\.id)
      + repository.filter(Person.self, where: \.age >= 0).sorted(by: \.age).result().map(\.id)
  }

  @Test("W3 a transaction is committed whole, across models", arguments: ContextUnderTest.all)
  func commit(context: ContextUnderTest) throws {
    let repository = try filled(context)
    let sum = try repository.transaction { store in
      try store.write(Account.self, id: 1) { $0.balance -= 30 }
      try store.write(Account.self, id: 2) { $0.balance += 30 }
      try store.deleteAll(Person.self)
      try store.insert(Person("new"))
      return try store.fetch(Account.self).reduce(0) { $0 + $1.balance }
    }
    #expect(sum == 1000)
    #expect(try repository.find(Account.self, id: 1)?.balance == 70)
    #expect(try repository.find(Account.self, id: 2)?.balance == 130)
    #expect(try repository.fetch(Person.self).map(\.id) == ["new"])
  }

  @Test(
    "W3 throwing rolls everything back, records and indexes, and throws on unchanged",
    arguments: ContextUnderTest.all)
  func rollback(context: ContextUnderTest) throws {
    let repository = try filled(context)
    let before = try state(repository)
    #expect(throws: Refusal()) {
      try repository.transaction { store in
        try store.save(contentsOf: (5...200).map { Account($0, balance: 1) })
        try store.write(Account.self, id: 1) { $0.balance = 7 }
        #expect(try store.delete(Account.self, id: 2))
        try store.deleteAll(Person.self)
        var person = Person("new")
        person.email = "1@example.org"
        try store.insert(person)
        try store.insert(Keyed("never", "defined before"))
        throw Refusal()
      }
    }
    #expect(try state(repository) == before)
    #expect(try repository.count(Keyed<String>.self) == 0)
    #expect(try repository.filter(Account.self, where: \.balance == 1).count() == 0)
    // What was rolled back does not stand in the way.
    try repository.insert(Keyed("never", "now"))
    var person = Person("new")
    person.email = "new@example.org"
    try repository.insert(person)
    try repository.insert(Account(11, balance: 1))
    #expect(try repository.filter(Account.self, where: \.balance == 1).count() == 1)
  }

  @Test(
    "W3 reads see the transaction's own writes: find, fetch, count, indexes, orders, pages",
    arguments: ContextUnderTest.all)
  func ownWrites(context: ContextUnderTest) throws {
    let repository = try filled(context)
    try repository.transaction { store in
      try store.insert(Account(50, balance: 500))
      try store.write(Account.self, id: 3) { $0.balance = 400 }
      #expect(try store.delete(Account.self, id: 4))
      #expect(try store.find(Account.self, id: 50)?.balance == 500)
      #expect(try store.find(Account.self, id: 4) == nil)
      #expect(try store.count(Account.self) == 10)
      #expect(
        try store.filter(Account.self, where: \.balance > 100).sorted(by: \.balance, inOrder: .descending)
          .result().map(\.id) == [50, 3])
      #expect(try store.filter(Account.self, where: \.balance == 100).count() == 8)
      #expect(try store.filter(Account.self).after(Account(9, balance: 0)).result().map(\.id) == [10, 50])
      #expect(try store.filter(Account.self, where: \.balance > 100).delete() == 2)
      #expect(try store.fetch(Account.self).map(\.id) == [1, 2, 5, 6, 7, 8, 9, 10])
      expectError(.notFound) { try store.update(Account(50, balance: 1)) }
      try store.insert(Account(50, balance: 2))
    }
    #expect(try repository.fetch(Account.self).map(\.id) == [1, 2, 5, 6, 7, 8, 9, 10, 50])
  }

  @Test("W3 a nested transaction that throws undoes only its own part", arguments: ContextUnderTest.all)
  func nested(context: ContextUnderTest) throws {
    let repository = try filled(context)
    try repository.transaction { store in
      try store.insert(Account(20, balance: 1))
      #expect(throws: Refusal()) {
        try store.transaction { inner in
          try inner.insert(Account(21, balance: 1))
          try inner.deleteAll(Person.self)
          try inner.write(Account.self, id: 20) { $0.balance = 2 }
          try inner.transaction { innermost in
            try innermost.insert(Account(22, balance: 1))
          }
          #expect(try inner.fetch(Account.self).count == 13)
          throw Refusal()
        }
      }
      #expect(try store.find(Account.self, id: 20)?.balance == 1)
      #expect(try store.count(Account.self) == 11)
      #expect(try store.filter(Account.self, where: \.balance <= 2).result().map(\.id) == [20])
      try store.transaction { inner in
        try inner.insert(Account(23, balance: 1))
        #expect(throws: Refusal()) {
          try inner.transaction { innermost in
            #expect(try innermost.delete(Account.self, id: 23))
            throw Refusal()
          }
        }
      }
      #expect(try store.count(Person.self) == 20)
    }
    #expect(try repository.filter(Account.self, where: \.balance == 1).result().map(\.id) == [20, 23])
    #expect(try repository.count(Person.self) == 20)
  }

  @Test(
    "W3 when the outer transaction throws, nested ones that returned are undone too",
    arguments: ContextUnderTest.all)
  func nestedAndRolledBack(context: ContextUnderTest) throws {
    let repository = try filled(context)
    let before = try state(repository)
    #expect(throws: Refusal()) {
      try repository.transaction { store in
        try store.transaction { try $0.insert(Account(20, balance: 1)) }
        try store.transaction { try $0.transaction { try $0.deleteAll(Person.self) } }
        throw Refusal()
      }
    }
    #expect(try state(repository) == before)
  }

  @Test("W3 a deep nest of transactions works", arguments: ContextUnderTest.all)
  func deepNest(context: ContextUnderTest) throws {
    let repository = try filled(context)
    func descend(_ store: any PersistentRepository, _ depth: Int) throws {
      try store.insert(Account(100 + depth, balance: depth))
      if depth == 20 { throw Refusal() }
      do {
        try store.transaction { try descend($0, depth + 1) }
      } catch is Refusal where depth == 15 {
        // What the five below did is undone; the fifteen above go on.
      }
    }
    try repository.transaction { try descend($0, 1) }
    #expect(try repository.filter(Account.self, where: \.id > 100).result().map(\.id) == Array(101...115))
  }

  @Test(
    "W3 an error that the closure swallows does not roll back; what it returns comes out",
    arguments: ContextUnderTest.all)
  func swallowed(context: ContextUnderTest) throws {
    let repository = try filled(context)
    let text = try repository.transaction { store in
      expectError(.duplicateKey) { try store.insert(Account(1, balance: 1)) }
      try store.insert(Account(11, balance: 1))
      return "done"
    }
    #expect(text == "done")
    #expect(try repository.count(Account.self) == 11)
  }

  @Test("W3 a transaction is of no use after its end", arguments: ContextUnderTest.all)
  func afterEnd(context: ContextUnderTest) throws {
    let repository = try filled(context)
    let kept = try repository.transaction { $0 }
    expectError(.closed) { try kept.insert(Account(11, balance: 1)) }
    expectError(.closed) { try kept.fetch(Account.self) }
    expectError(.closed) { try kept.transaction { _ in } }
    #expect(try repository.count(Account.self) == 10)
  }

  @Test("W3 a transaction without any change is fine", arguments: ContextUnderTest.all)
  func empty(context: ContextUnderTest) throws {
    let repository = try filled(context)
    try repository.transaction { _ in }
    let count = try repository.transaction { try $0.count(Account.self) }
    #expect(count == 10)
  }
}
