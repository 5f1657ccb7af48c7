import PersistenceCore

/// W1 W2: writing.
enum WriteChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "insert throws duplicateKey if the key exists, naming model and key, and changes nothing", [.w1], insert
    ),
    ConformanceCheck("update throws notFound if the key does not exist, and does not insert", [.w1], update),
    ConformanceCheck("save inserts or replaces a record and its index entries", [.w1], save),
    ConformanceCheck("delete returns whether it deleted a record", [.w1], delete),
    ConformanceCheck("deleteAll deletes all records of its model and of no other", [.w1], deleteAll),
    ConformanceCheck("write reads the stored record, changes it and returns it", [.w2], write),
    ConformanceCheck(
      "a write whose closure throws changes nothing; a changed key or a missing record throws", [.w2],
      failingWrite),
    ConformanceCheck("a model that was never saved has no records, and is not an error", [.w1], unknownModel),
  ]

  @Sendable private static func insert(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(Account(1, balance: 10))
    let error = try expectError(.duplicateKey) { try repository.insert(Account(1, balance: 20)) }
    try expect(error.model == "Account" && error.key == RecordKey([.integer(1)]))
    try expect(repository.find(Account.self, id: 1)?.balance, equals: 10)
    try expectError(.duplicateKey) {
      try repository.insert(contentsOf: [
        Account(2, balance: 1), Account(3, balance: 1), Account(1, balance: 1),
      ])
    }
    try expectError(.duplicateKey) {
      try repository.insert(contentsOf: [Account(2, balance: 1), Account(2, balance: 2)])
    }
    try expect(Array(repository.fetch(Account.self)), equals: [Account(1, balance: 10)])
    try expect(repository.filter(Account.self, where: \.balance == 1).count(), equals: 0)
  }

  @Sendable private static func update(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let error = try expectError(.notFound) { try repository.update(Account(1, balance: 10)) }
    try expect(error.model == "Account" && error.key == RecordKey([.integer(1)]))
    try expect(repository.count(Account.self), equals: 0)
    try repository.insert(Account(1, balance: 10))
    try repository.update(Account(1, balance: 20))
    try expectError(.notFound) {
      try repository.update(contentsOf: [Account(1, balance: 30), Account(2, balance: 30)])
    }
    try expect(Array(repository.fetch(Account.self)), equals: [Account(1, balance: 20)])
    try expect(repository.filter(Account.self, where: \.balance == 20).count(), equals: 1)
    try expect(repository.filter(Account.self, where: \.balance == 30).count(), equals: 0)
  }

  @Sendable private static func save(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: (1...300).map { Account($0, balance: $0 % 3) })
    try repository.save(contentsOf: (200...400).map { Account($0, balance: 7) })
    try expect(repository.count(Account.self), equals: 400)
    try expect(repository.filter(Account.self, where: \.balance == 7).count(), equals: 201)
    try expect(repository.filter(Account.self, where: \.balance == 0).count(), equals: 66)
    try expect(
      repository.filter(Account.self, where: \.balance < 3).sorted(by: \.balance).result().count, equals: 199)
    try repository.save(contentsOf: [Account]())
    try repository.save(contentsOf: [Account(1, balance: 50), Account(1, balance: 60)])
    try expect(repository.find(Account.self, id: 1)?.balance, equals: 60)
    try expect(repository.filter(Account.self, where: \.balance == 50).count(), equals: 0)
  }

  @Sendable private static func delete(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try expect(repository.delete(Account(1, balance: 0)) == false)
    try repository.save(contentsOf: (1...10).map { Account($0, balance: $0) })
    try expect(repository.delete(Account(3, balance: 99)))
    try expect(repository.delete(Account.self, id: 3) == false)
    try expect(repository.filter(Account.self, where: \.balance == 3).count(), equals: 0)
    try expect(repository.filter(Account.self, where: \.balance > 5).delete(), equals: 5)
    try expect(repository.fetch(Account.self).map(\.id), equals: [1, 2, 4, 5])
    try repository.insert(Account(3, balance: 3))
    try expect(repository.fetch(Account.self).map(\.id), equals: [1, 2, 3, 4, 5])
  }

  @Sendable private static func deleteAll(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.deleteAll(Account.self)
    let people = Person.random(300, seed: 40)
    try repository.save(contentsOf: people)
    try repository.save(contentsOf: (1...300).map { Account($0, balance: $0) })
    try repository.save(Keyed("Account", "other"))
    try repository.deleteAll(Account.self)
    try expect(repository.count(Account.self), equals: 0)
    try expect(repository.fetch(Account.self).isEmpty)
    try expect(repository.filter(Account.self, where: \.balance > 0).result().isEmpty)
    try expect(repository.count(Person.self), equals: people.count)
    try expect(repository.count(Keyed<String>.self), equals: 1)
    try repository.insert(contentsOf: (1...3).map { Account($0, balance: 5) })
    try expect(repository.filter(Account.self, where: \.balance == 5).count(), equals: 3)
    try repository.deleteAll(Person.self)
    var person = people[0]
    person.email = "free@example.org"
    try repository.insert(person)
    try expect(repository.count(Person.self) == 1 && repository.count(Account.self) == 3)
  }

  @Sendable private static func write(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(Account(1, balance: 10))
    let changed = try repository.write(Account(1, balance: -1, note: "stale")) { $0.balance += 5 }
    try expect(changed, equals: Account(1, balance: 15))
    try expect(repository.find(Account.self, id: 1), equals: changed)
    try expect(repository.write(Account.self, id: 1) { $0.note = "x" }.balance, equals: 15)
    try expect(repository.filter(Account.self, where: \.balance == 15).count(), equals: 1)
    try expect(repository.filter(Account.self, where: \.balance == 10).count(), equals: 0)
  }

  @Sendable private static func failingWrite(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(Account(1, balance: 10))
    try expectThrows(SuiteError()) {
      try repository.write(Account.self, id: 1) { account in
        account.balance = 99
        throw SuiteError()
      }
    }
    try expectError(.notFound) { try repository.write(Account.self, id: 2) { $0.balance = 1 } }
    try expectError(.invalidRequest) { try repository.write(Account.self, id: 1) { $0.id = 3 } }
    try expect(Array(repository.fetch(Account.self)), equals: [Account(1, balance: 10)])
    try expect(repository.filter(Account.self, where: \.balance == 99).count(), equals: 0)
  }

  @Sendable private static func unknownModel(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try expect(repository.fetch(Person.self).isEmpty)
    try expect(repository.count(Person.self), equals: 0)
    try expect(repository.find(Person.self, id: "x") == nil)
    try expect(repository.delete(Person("x")) == false)
    try expect(repository.filter(Person.self, where: \.age == 1).sorted(by: \.name).limit(3).result().isEmpty)
    try expectError(.notFound) { try repository.write(Person("x")) { $0.age = 1 } }
    try expectError(.notFound) { try repository.update(Person("x")) }
  }
}
