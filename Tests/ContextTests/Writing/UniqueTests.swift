import ContextTestSupport
import PersistenceCore
import Testing

@Suite("W4: unique indexes")
struct UniqueTests {
  private func person(_ id: String, email: String? = nil, team: String = "", seat: Int? = nil) -> Person {
    var person = Person(id)
    person.email = email
    person.team = team
    person.seat = seat
    return person
  }

  @Test(
    "W4 a second value is refused with uniqueViolation, naming model, field and value",
    arguments: ContextUnderTest.all)
  func refusal(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(person("a", email: "x@y"))
    for write in [repository.insert, repository.save] as [(Person) throws -> Void] {
      let error = expectError(.uniqueViolation) { try write(person("b", email: "x@y")) }
      #expect(error?.model == "Person" && error?.field == "email")
      #expect(error?.message.contains("x@y") == true)
    }
    #expect(try repository.fetch(Person.self).map(\.id) == ["a"])
    try repository.insert(person("b", email: "b@y"))
    expectError(.uniqueViolation) { try repository.update(person("b", email: "x@y")) }
    expectError(.uniqueViolation) { try repository.write(Person.self, id: "b") { $0.email = "x@y" } }
    #expect(try repository.find(Person.self, id: "b")?.email == "b@y")
    #expect(try repository.filter(Person.self, where: \.email == "x@y").result().map(\.id) == ["a"])
  }

  @Test(
    "W4 a record keeps its own value, and frees it when it changes or goes", arguments: ContextUnderTest.all)
  func ownValue(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(person("a", email: "x"))
    try repository.save(person("a", email: "x", team: "red"))
    try repository.update(person("a", email: "x", team: "blue"))
    try repository.write(Person.self, id: "a") { $0.email = "z" }
    try repository.insert(person("b", email: "x"))
    #expect(try repository.delete(Person.self, id: "a"))
    try repository.insert(person("c", email: "z"))
    try repository.deleteAll(Person.self)
    try repository.insert(contentsOf: [person("d", email: "x"), person("e", email: "z")])
    #expect(try repository.filter(Person.self, where: \.email == "x").delete() == 1)
    try repository.insert(person("f", email: "x"))
    #expect(try repository.count(Person.self) == 2)
  }

  @Test("W4 values may change hands within a transaction", arguments: ContextUnderTest.all)
  func swap(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(contentsOf: [person("a", email: "1"), person("b", email: "2")])
    try repository.transaction { store in
      try store.update(person("a"))
      try store.update(person("b", email: "1"))
      try store.update(person("a", email: "2"))
    }
    #expect(try repository.fetch(Person.self).map(\.email) == ["2", "1"])
    expectError(.uniqueViolation) {
      try repository.save(contentsOf: [person("a", email: "1"), person("b", email: "2")])
    }
    #expect(try repository.fetch(Person.self).map(\.email) == ["2", "1"])
  }

  @Test("W4 nil never collides, in a compound index any nil", arguments: ContextUnderTest.all)
  func nils(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(contentsOf: ["a", "b", "c"].map { person($0, team: "red") })
    try repository.insert(person("d", team: "red", seat: 1))
    try repository.insert(person("e", team: "blue", seat: 1))
    try repository.insert(person("f", team: "red", seat: 2))
    let error = expectError(.uniqueViolation) { try repository.insert(person("g", team: "red", seat: 1)) }
    #expect(error?.field == "team, seat")
    try repository.update(person("d", team: "red"))
    try repository.insert(person("g", team: "red", seat: 1))
    #expect(try repository.count(Person.self) == 7)
  }

  @Test(
    "W4 empty text, U+0000 and values that begin alike are different values", arguments: ContextUnderTest.all)
  func lookalikes(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let long = String(repeating: "é", count: 400)
    let values = ["", "\0", "a", "a\0", "A", "a ", "a\0b", long, long + "1", long + "2", long + "\0"]
    for (number, value) in values.enumerated() { try repository.insert(person("\(number)", email: value)) }
    for value in values {
      expectError(.uniqueViolation) { try repository.insert(person("again", email: value)) }
      #expect(try repository.filter(Person.self, where: \.email == value).count() == 1)
    }
    // In a compound index the parts do not run into each other.
    try repository.insert(person("x", team: "a\0", seat: 1))
    try repository.insert(person("y", team: "a", seat: 1))
    expectError(.uniqueViolation) { try repository.insert(person("z", team: "a\0", seat: 1)) }
  }

  @Test(
    "W4 V4 NaN collides with NaN, 0.0 with −0.0; decimals and UUIDs as they are equal",
    arguments: ContextUnderTest.all)
  func equalities(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(UniqueNumber(1, number: .nan))
    expectError(.uniqueViolation) { try repository.insert(UniqueNumber(2, number: -.nan)) }
    try repository.insert(UniqueNumber(3, number: 0.0))
    expectError(.uniqueViolation) { try repository.insert(UniqueNumber(4, number: -0.0)) }
    try repository.insert(UniqueNumber(5, number: .infinity))
    try repository.insert(UniqueNumber(6, number: .leastNonzeroMagnitude))
    try repository.insert(contentsOf: [UniqueNumber(7, number: nil), UniqueNumber(8, number: nil)])
    #expect(try repository.fetch(UniqueNumber.self).map(\.id) == [1, 3, 5, 6, 7, 8])
  }

  @Test(
    "W4 in a transaction, what was refused leaves no trace, and the rest stays",
    arguments: ContextUnderTest.all)
  func insideTransaction(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(person("a", email: "x", team: "red", seat: 1))
    try repository.transaction { store in
      try store.insert(person("b", email: "y"))
      expectError(.uniqueViolation) { try store.insert(person("c", email: "x")) }
      expectError(.duplicateKey) { try store.insert(person("a", email: "new")) }
      expectError(.notFound) { try store.update(person("zz", email: "new")) }
      expectError(.uniqueViolation) {
        try store.save(contentsOf: [person("d", email: "d"), person("e", email: "y")])
      }
      expectError(.uniqueViolation) { try store.save(person("b", email: "fresh", team: "red", seat: 1)) }
      #expect(try store.fetch(Person.self).map(\.id) == ["a", "b"])
      // The values of what was refused are free.
      try store.insert(contentsOf: [
        person("c", email: "new"), person("d", email: "fresh"), person("e", email: "d"),
      ])
    }
    #expect(try repository.fetch(Person.self).map(\.email) == ["x", "y", "new", "fresh", "d"])
    #expect(try repository.filter(Person.self, where: \.email == "d").result().map(\.id) == ["e"])
  }
}
