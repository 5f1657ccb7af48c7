import PersistenceCore

/// W4: unique indexes.
enum UniqueChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a duplicate value throws uniqueViolation, naming model, field and value", [.w4], refusal),
    ConformanceCheck(
      "a record can keep its own unique value, and frees it when it changes or is deleted", [.w4], ownValue),
    ConformanceCheck("two records can exchange unique values within a transaction", [.w4], swap),
    ConformanceCheck("nil never conflicts; in a compound index, any nil prevents a conflict", [.w4], nils),
    ConformanceCheck(
      "empty text, U+0000 and values with a common prefix are different unique values", [.w4], lookalikes),
    ConformanceCheck(
      "unique indexes treat NaN as equal to NaN, 0.0 to −0.0, and decimals and UUIDs by equality",
      [.w4, .v4], equalities),
    ConformanceCheck(
      "a rejected write leaves no trace in its transaction, and other writes stay", [.w4], insideTransaction),
  ]

  @Sendable private static func refusal(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(Person("a", email: "x@y"))
    for write in [repository.insert, repository.save] as [(Person) throws -> Void] {
      let error = try expectError(.uniqueViolation) { try write(Person("b", email: "x@y")) }
      try expect(error.model == "Person" && error.field == "email")
      try expect(error.message.contains("x@y") == true)
    }
    try expect(repository.fetch(Person.self).map(\.id), equals: ["a"])
    try repository.insert(Person("b", email: "b@y"))
    try expectError(.uniqueViolation) { try repository.update(Person("b", email: "x@y")) }
    try expectError(.uniqueViolation) { try repository.write(Person.self, id: "b") { $0.email = "x@y" } }
    try expect(repository.find(Person.self, id: "b")?.email, equals: "b@y")
    try expect(repository.filter(Person.self, where: \.email == "x@y").ids(), equals: ["a"])
  }

  @Sendable private static func ownValue(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(Person("a", email: "x"))
    try repository.save(Person("a", email: "x", team: "red"))
    try repository.update(Person("a", email: "x", team: "blue"))
    try repository.write(Person.self, id: "a") { $0.email = "z" }
    try repository.insert(Person("b", email: "x"))
    try expect(repository.delete(Person.self, id: "a"))
    try repository.insert(Person("c", email: "z"))
    try repository.deleteAll(Person.self)
    try repository.insert(contentsOf: [Person("d", email: "x"), Person("e", email: "z")])
    try expect(repository.filter(Person.self, where: \.email == "x").delete(), equals: 1)
    try repository.insert(Person("f", email: "x"))
    try expect(repository.count(Person.self), equals: 2)
  }

  @Sendable private static func swap(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(contentsOf: [Person("a", email: "1"), Person("b", email: "2")])
    try repository.transaction { store in
      try store.update(Person("a"))
      try store.update(Person("b", email: "1"))
      try store.update(Person("a", email: "2"))
    }
    try expect(repository.fetch(Person.self).map(\.email), equals: ["2", "1"])
    try expectError(.uniqueViolation) {
      try repository.save(contentsOf: [Person("a", email: "1"), Person("b", email: "2")])
    }
    try expect(repository.fetch(Person.self).map(\.email), equals: ["2", "1"])
  }

  @Sendable private static func nils(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(contentsOf: ["a", "b", "c"].map { Person($0, team: "red") })
    try repository.insert(Person("d", team: "red", seat: 1))
    try repository.insert(Person("e", team: "blue", seat: 1))
    try repository.insert(Person("f", team: "red", seat: 2))
    let error = try expectError(.uniqueViolation) { try repository.insert(Person("g", team: "red", seat: 1)) }
    try expect(error.field, equals: "team, seat")
    try repository.update(Person("d", team: "red"))
    try repository.insert(Person("g", team: "red", seat: 1))
    try expect(repository.count(Person.self), equals: 7)
  }

  @Sendable private static func lookalikes(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let long = String(repeating: "é", count: 400)
    let values = ["", "\0", "a", "a\0", "A", "a ", "a\0b", long, long + "1", long + "2", long + "\0"]
    for (number, value) in values.enumerated() { try repository.insert(Person("\(number)", email: value)) }
    for value in values {
      try expectError(.uniqueViolation) { try repository.insert(Person("again", email: value)) }
      try expect(repository.filter(Person.self, where: \.email == value).count(), equals: 1)
    }
    // The parts of a compound index are separate.
    try repository.insert(Person("x", team: "a\0", seat: 1))
    try repository.insert(Person("y", team: "a", seat: 1))
    try expectError(.uniqueViolation) { try repository.insert(Person("z", team: "a\0", seat: 1)) }
  }

  @Sendable private static func equalities(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(UniqueNumber(1, number: .nan))
    try expectError(.uniqueViolation) { try repository.insert(UniqueNumber(2, number: -.nan)) }
    try repository.insert(UniqueNumber(3, number: 0.0))
    try expectError(.uniqueViolation) { try repository.insert(UniqueNumber(4, number: -0.0)) }
    try repository.insert(UniqueNumber(5, number: .infinity))
    try repository.insert(UniqueNumber(6, number: .leastNonzeroMagnitude))
    try repository.insert(contentsOf: [UniqueNumber(7, number: nil), UniqueNumber(8, number: nil)])
    try expect(repository.fetch(UniqueNumber.self).map(\.id), equals: [1, 3, 5, 6, 7, 8])
  }

  @Sendable private static func insideTransaction(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(Person("a", email: "x", team: "red", seat: 1))
    try repository.transaction { store in
      try store.insert(Person("b", email: "y"))
      try expectError(.uniqueViolation) { try store.insert(Person("c", email: "x")) }
      try expectError(.duplicateKey) { try store.insert(Person("a", email: "new")) }
      try expectError(.notFound) { try store.update(Person("zz", email: "new")) }
      try expectError(.uniqueViolation) {
        try store.save(contentsOf: [Person("d", email: "d"), Person("e", email: "y")])
      }
      try expectError(.uniqueViolation) { try store.save(Person("b", email: "fresh", team: "red", seat: 1)) }
      try expect(store.fetch(Person.self).map(\.id), equals: ["a", "b"])
      // The values of a rejected record stay free.
      try store.insert(contentsOf: [
        Person("c", email: "new"), Person("d", email: "fresh"), Person("e", email: "d"),
      ])
    }
    try expect(repository.fetch(Person.self).map(\.email), equals: ["x", "y", "new", "fresh", "d"])
    try expect(repository.filter(Person.self, where: \.email == "d").ids(), equals: ["e"])
  }
}
