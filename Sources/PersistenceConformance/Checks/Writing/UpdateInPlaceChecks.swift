import Foundation
import PersistenceCore

/// W1 W3 W4: bulk updates and deletes.
enum UpdateInPlaceChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a bulk update sets the stated fields of matching records, returns their number and"
        + " maintains indexes", [.w1, .w3], updates),
    ConformanceCheck(
      "a bulk update that would violate uniqueness changes nothing, and other writes of the"
        + " transaction stay", [.w4, .w3], uniqueness),
    ConformanceCheck(
      "a bulk update of a key field, of nothing, or to an invalid value is rejected", [.e3, .o1], rejections),
  ]

  @Sendable private static func updates(_ context: ContextUnderTest) throws {
    var people = Person.random(300, seed: 130)
    let repository = try context.makeRepository(with: people)
    func compare(_ what: String) throws {
      let sorted = people.sorted { String.oracle($0.id, $1.id) < 0 }
      let found = Array(try repository.fetch(Person.self))
      try expect(found.map { Shown.text($0) }, equals: sorted.map { Shown.text($0) }, what)
      let ages = sorted.filter { $0.age == 9 }.map(\.id)
      try expect(repository.filter(Person.self, where: \.age == 9).ids(), equals: ages, what)
      let teams = sorted.count { $0.team == "gold" }
      try expect(repository.filter(Person.self, where: \.team == "gold").count(), equals: teams, what)
    }
    func change(where matches: (Person) -> Bool, _ body: (inout Person) -> Void) -> Int {
      let places = people.indices.filter { matches(people[$0]) }
      for place in places { body(&people[place]) }
      return places.count
    }
    let first = try repository.update(
      Person.self, where: \.age == nil, set: .set(\.age, to: 9), .set(\.height, to: .nan))
    try expect(first, equals: change(where: { $0.age == nil }) { ($0.age, $0.height) = (9, .nan) })
    try compare("nil set to a value")
    // The field that is set is also in the filter and the order.
    let query = repository.filter(Person.self, where: \.team == "red").sorted(by: \.team).limit(10)
    let ten = Set(try query.ids())
    try expect(query.update(.set(\.team, to: "gold"), .set(\.joined, to: nil)), equals: ten.count)
    _ = change(where: { ten.contains($0.id) }) { ($0.team, $0.joined) = ("gold", nil) }
    try compare("the first ten of a team")
    try expect(repository.update(Person.self, where: \.id == "nobody", set: .set(\.age, to: 1)), equals: 0)
    // `.none` is the filter that matches nothing, not a missing filter.
    try expect(repository.update(Person.self, where: .none, set: .set(\.age, to: 1)), equals: 0)
    try expect(repository.filter(Person.self, where: .none).delete(), equals: 0)
    try expect(repository.count(Person.self, options: FetchOptions(predicate: .none)), equals: 0)
    let all = try repository.update(
      Person.self, where: .all, set: .set(\.score, to: -0.0), .set(\.age, to: nil))
    try expect(all, equals: change(where: { _ in true }) { ($0.score, $0.age) = (0, nil) })
    try compare("all of them")
    let deleted = try repository.delete(Person.self, where: \.team == "blue")
    try expect(deleted, equals: people.count { $0.team == "blue" })
    people.removeAll { $0.team == "blue" }
    try compare("deleted where")
    try expectThrows(SuiteError()) {
      try repository.transaction { store in
        try store.update(Person.self, where: .all, set: .set(\.age, to: 9), .set(\.team, to: "gold"))
        try expect(store.filter(Person.self, where: \.age == 9).count(), equals: people.count)
        throw SuiteError()
      }
    }
    try compare("rolled back")
  }

  @Sendable private static func uniqueness(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    var people = (0..<5).map { Person("p\($0)") }
    for index in people.indices { people[index].email = "\(index)@example.org" }
    try repository.save(contentsOf: people)
    let query = repository.filter(Person.self)
    try repository.transaction { store in
      try store.update(Person.self, where: \.id == "p0", set: .set(\.age, to: 50))
      let error = try expectError(.uniqueViolation) {
        try store.update(
          Person.self, where: \.id != "p4", set: .set(\.email, to: "new@example.org"), .set(\.age, to: 1))
      }
      try expect(error.model == "Person" && error.field == "email", "\(error)")
      try expect(store.filter(Person.self, where: \.age == 1).count(), equals: 0)
      try store.update(Person.self, where: \.id == "p4", set: .set(\.email, to: "4@example.org"))
    }
    try expect(query.result().map(\.email), equals: people.map(\.email))
    try expect(query.result().map(\.age), equals: [50, nil, nil, nil, nil])
    try expectError(.uniqueViolation) { try query.update(.set(\.email, to: "3@example.org")) }
    try expect(query.result().map(\.email), equals: people.map(\.email))
    // nil never conflicts.
    try expect(query.update(.set(\.email, to: nil)), equals: 5)
    try expect(query.filter(where: \.email == nil).count(), equals: 5)
  }

  @Sendable private static func rejections(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(Account(1, balance: 7))
    try expectError(.invalidRequest) { try repository.filter(Account.self).update(.set(\.id, to: 2)) }
    try expectError(.invalidRequest) { try repository.filter(Account.self).update() }
    try expectError(.unknownField) {
      try repository.filter(Account.self).update(.set(\.note.isEmpty, to: true))
    }
    let schema = try AllKinds.schema.model
    let wrong: [FieldAssignment] = [
      FieldAssignment("int8", .integer(128)), FieldAssignment("int8", .text("1")),
      FieldAssignment("int8", .null),
      FieldAssignment("uint32?", .integer(-1)), FieldAssignment("date", .double(1)),
    ]
    for assignment in wrong {
      try expectError(.invalidRequest, "\(assignment)") {
        try UpdateRequest(FetchRequest(schema), set: [assignment])
      }
    }
    try expect(Array(repository.fetch(Account.self)), equals: [Account(1, balance: 7)])
  }
}
