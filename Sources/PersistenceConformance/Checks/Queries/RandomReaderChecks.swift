import PersistenceCore

/// W3 R2 V6: the same queries on a running transaction, a snapshot and the store.
enum RandomReaderChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "random filters, orders and pages in a transaction see its own writes, also after a nested rollback",
      [.w3, .v6, .o2], insideTransaction),
    ConformanceCheck(
      "a snapshot answers random filters from its own state, whatever is written later", [.r2, .v6], snapshot),
    ConformanceCheck(
      "after many random changes, indexes, counts and orders agree with the records, also after reopening",
      [.w1, .w4, .o2], churn),
  ]

  private static func people(_ range: Range<Int>, seed: UInt64) -> [String: Person] {
    let people = Person.random(range.upperBound, seed: seed)[range].map { person in
      var person = person
      let number = person.id.split(separator: "-").last ?? ""
      person.id = "person \(number)"
      return person
    }
    return Dictionary(uniqueKeysWithValues: people.map { ($0.id, $0) })
  }

  /// Runs random filters in random orders, and compares with closures over the people.
  private static func expectAnswers(
    _ repository: any PersistentRepository, _ people: [String: Person], rounds: Int, seed: UInt64,
    _ what: String
  ) throws {
    let people = Array(people.values)
    var generator = ConditionGenerator(random: SeededGenerator(seed: seed))
    for _ in 0..<rounds {
      let condition = generator.condition(depth: 2)
      let order = PeopleOrder.random(using: &generator.random)
      let expected = people.filter(condition.holds).sorted(by: order.precedes).map(\.id)
      let query = repository.filter(Person.self, where: condition.predicate).sorted(by: order)
      let text = "\(what): \(condition), sorted by \(order.criteria.map { "\($0.fieldOrder)" })"
      try expect(query.ids(), equals: expected, text)
      try expect(query.count(), equals: expected.count, text)
      let (offset, limit) = (generator.random.int(0...5), generator.random.int(0...5))
      try expect(
        query.offset(offset).limit(limit).ids(), equals: Array(expected.dropFirst(offset).prefix(limit)),
        "\(text), offset \(offset), limit \(limit)")
    }
  }

  @Sendable private static func insideTransaction(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    var people = people(0..<40, seed: 90)
    try repository.insert(contentsOf: people.values)
    try repository.transaction { store in
      for (id, person) in Self.people(100..<130, seed: 91) { people[id] = person }
      try store.save(contentsOf: people.values)
      for number in 0..<10 {
        try expect(store.delete(Person.self, id: "person \(number)"))
        people["person \(number)"] = nil
      }
      for number in 10..<20 {
        people["person \(number)"] = try store.write(Person.self, id: "person \(number)") { person in
          person.age = number % 3
          person.team = "changed"
          person.email = nil
        }
      }
      try expectAnswers(store, people, rounds: 40, seed: 92, "inside")
      try expectThrows(SuiteError()) {
        try store.transaction { nested in
          try nested.deleteAll(Person.self)
          let others = Self.people(200..<210, seed: 93)
          try nested.insert(contentsOf: others.values)
          try expectAnswers(nested, others, rounds: 10, seed: 94, "in a nested transaction")
          throw SuiteError()
        }
      }
      try expectAnswers(store, people, rounds: 25, seed: 95, "after a nested rollback")
    }
    try expectAnswers(repository, people, rounds: 25, seed: 96, "after the commit")
  }

  @Sendable private static func snapshot(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let people = people(0..<40, seed: 97)
    try repository.insert(contentsOf: people.values)
    let snapshot = try repository.storage.snapshot()
    try repository.filter(Person.self, where: \.team == "red").delete()
    try repository.save(
      contentsOf: Self.people(20..<60, seed: 98).values.map { person in
        var person = person
        person.email = nil
        person.seat = nil
        person.team = "later"
        return person
      })
    let schema = try Person.schema.model
    let sorted = people.values.sorted { String.oracle($0.id, $1.id) < 0 }
    var generator = ConditionGenerator(random: SeededGenerator(seed: 99))
    for _ in 0..<40 {
      let condition = generator.condition(depth: 2)
      let request = try FetchRequest(schema, where: condition.predicate.node)
      let expected = sorted.filter(condition.holds).map { PersistentValue.text($0.id) }
      try expect(RowStore.rows(of: request, from: snapshot).map { $0[0] }, equals: expected, "\(condition)")
      try expect(snapshot.count(request), equals: expected.count, "\(condition)")
    }
  }

  @Sendable private static func churn(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    var random = SeededGenerator(seed: 100)
    let source = Array(people(0..<300, seed: 101).values).sorted { $0.id < $1.id }
    var people: [String: Person] = [:]
    for round in 0..<8 {
      try repository.transaction { transaction in
        for _ in 0..<25 {
          var person = random.pick(source)
          person.id = "person \(random.int(0...60))"
          let isTaken = people.values.contains { other in
            other.id != person.id
              && (other.email != nil && other.email == person.email
                || other.seat != nil && other.seat == person.seat && other.team == person.team)
          }
          if isTaken {
            try expectError(.uniqueViolation, "round \(round)") { try transaction.save(person) }
          } else if random.oneIn(3) {
            try expect(transaction.delete(person), equals: people.removeValue(forKey: person.id) != nil)
          } else {
            try transaction.save(person)
            people[person.id] = person
          }
        }
      }
      try expectAnswers(repository, people, rounds: 6, seed: 102 + UInt64(round), "round \(round)")
    }
    try store.reopen(&repository)
    try expectAnswers(repository, people, rounds: 20, seed: 110, "at the end")
  }
}
