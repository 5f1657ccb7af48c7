import ContextTestSupport
import PersistenceCore
import Testing

@Suite("W1 W2: writing")
struct WriteTests {
  @Test(
    "W1 insert throws duplicateKey where the key exists, naming model and key, and changes nothing",
    arguments: ContextUnderTest.all)
  func insert(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(Account(1, balance: 10))
    let error = expectError(.duplicateKey) { try repository.insert(Account(1, balance: 20)) }
    #expect(error?.model == "Account" && error?.key == RecordKey([.integer(1)]))
    #expect(try repository.find(Account.self, id: 1)?.balance == 10)
    expectError(.duplicateKey) {
      try repository.insert(contentsOf: [
        Account(2, balance: 1), Account(3, balance: 1), Account(1, balance: 1),
      ])
    }
    expectError(.duplicateKey) {
      try repository.insert(contentsOf: [Account(2, balance: 1), Account(2, balance: 2)])
    }
    #expect(try Array(repository.fetch(Account.self)) == [Account(1, balance: 10)])
    #expect(try repository.filter(Account.self, where: \.balance == 1).count() == 0)
  }

  @Test(
    "W1 update throws notFound where the key does not exist, and does not insert",
    arguments: ContextUnderTest.all)
  func update(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let error = expectError(.notFound) { try repository.update(Account(1, balance: 10)) }
    #expect(error?.model == "Account" && error?.key == RecordKey([.integer(1)]))
    #expect(try repository.count(Account.self) == 0)
    try repository.insert(Account(1, balance: 10))
    try repository.update(Account(1, balance: 20))
    expectError(.notFound) {
      try repository.update(contentsOf: [Account(1, balance: 30), Account(2, balance: 30)])
    }
    #expect(try Array(repository.fetch(Account.self)) == [Account(1, balance: 20)])
    #expect(try repository.filter(Account.self, where: \.balance == 20).count() == 1)
    #expect(try repository.filter(Account.self, where: \.balance == 30).count() == 0)
  }

  @Test("W1 save inserts or replaces, index entries included", arguments: ContextUnderTest.all)
  func save(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: (1...300).map { Account($0, balance: $0 % 3) })
    try repository.save(contentsOf: (200...400).map { Account($0, balance: 7) })
    #expect(try repository.count(Account.self) == 400)
    #expect(try repository.filter(Account.self, where: \.balance == 7).count() == 201)
    #expect(try repository.filter(Account.self, where: \.balance == 0).count() == 66)
    #expect(
      try repository.filter(Account.self, where: \.balance < 3).sorted(by: \.balance).result().count == 199)
    try repository.save(contentsOf: [Account]())
    try repository.save(contentsOf: [Account(1, balance: 50), Account(1, balance: 60)])
    #expect(try repository.find(Account.self, id: 1)?.balance == 60)
    #expect(try repository.filter(Account.self, where: \.balance == 50).count() == 0)
  }

  @Test("W1 delete says whether there was anything to delete", arguments: ContextUnderTest.all)
  func delete(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    #expect(try repository.delete(Account(1, balance: 0)) == false)
    try repository.save(contentsOf: (1...10).map { Account($0, balance: $0) })
    #expect(try repository.delete(Account(3, balance: 99)))
    #expect(try repository.delete(Account.self, id: 3) == false)
    #expect(try repository.filter(Account.self, where: \.balance == 3).count() == 0)
    #expect(try repository.filter(Account.self, where: \.balance > 5).delete() == 5)
    #expect(try repository.fetch(Account.self).map(\.id) == [1, 2, 4, 5])
    try repository.insert(Account(3, balance: 3))
    #expect(try repository.fetch(Account.self).map(\.id) == [1, 2, 3, 4, 5])
  }

  @Test("W1 deleteAll removes that model's records and no other model's", arguments: ContextUnderTest.all)
  func deleteAll(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.deleteAll(Account.self)
    let people = Person.random(300, seed: 40)
    try repository.save(contentsOf: people)
    try repository.save(contentsOf: (1...300).map { Account($0, balance: $0) })
    try repository.save(Keyed("Account", "other"))
    try repository.deleteAll(Account.self)
    #expect(try repository.count(Account.self) == 0)
    #expect(try repository.fetch(Account.self).isEmpty)
    #expect(try repository.filter(Account.self, where: \.balance > 0).result().isEmpty)
    #expect(try repository.count(Person.self) == people.count)
    #expect(try repository.count(Keyed<String>.self) == 1)
    try repository.insert(contentsOf: (1...3).map { Account($0, balance: 5) })
    #expect(try repository.filter(Account.self, where: \.balance == 5).count() == 3)
    try repository.deleteAll(Person.self)
    var person = people[0]
    person.email = "free@example.org"
    try repository.insert(person)
    #expect(try repository.count(Person.self) == 1 && repository.count(Account.self) == 3)
  }

  @Test("W2 write reads the stored record, changes it and gives it back", arguments: ContextUnderTest.all)
  func write(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(Account(1, balance: 10))
    var stale = Account(1, balance: -1)
    stale.note = "stale"
    let changed = try repository.write(stale) { $0.balance += 5 }
    #expect(changed == Account(1, balance: 15))
    #expect(try repository.find(Account.self, id: 1) == changed)
    #expect(try repository.write(Account.self, id: 1) { $0.note = "x" }.balance == 15)
    #expect(try repository.filter(Account.self, where: \.balance == 15).count() == 1)
    #expect(try repository.filter(Account.self, where: \.balance == 10).count() == 0)
  }

  @Test(
    "W2 a write whose closure throws changes nothing; one that changes the key, or finds none, throws",
    arguments: ContextUnderTest.all)
  func failingWrite(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(Account(1, balance: 10))
    #expect(throws: Refusal()) {
      try repository.write(Account.self, id: 1) { account in
        account.balance = 99
        throw Refusal()
      }
    }
    expectError(.notFound) { try repository.write(Account.self, id: 2) { $0.balance = 1 } }
    expectError(.invalidRequest) { try repository.write(Account.self, id: 1) { $0.id = 3 } }
    #expect(try Array(repository.fetch(Account.self)) == [Account(1, balance: 10)])
    #expect(try repository.filter(Account.self, where: \.balance == 99).count() == 0)
  }

  @Test("W1 a model that was never saved is empty, not an error", arguments: ContextUnderTest.all)
  func unknownModel(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    #expect(try repository.fetch(Person.self).isEmpty)
    #expect(try repository.count(Person.self) == 0)
    #expect(try repository.find(Person.self, id: "x") == nil)
    #expect(try repository.delete(Person("x")) == false)
    #expect(
      try repository.filter(Person.self, where: \.age == 1).sorted(by: \.name).limit(3).result().isEmpty)
    expectError(.notFound) { try repository.write(Person("x")) { $0.age = 1 } }
    expectError(.notFound) { try repository.update(Person("x")) }
  }
}
