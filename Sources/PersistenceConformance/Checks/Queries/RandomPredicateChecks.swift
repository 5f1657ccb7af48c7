import Foundation
import PersistenceCore

/// V6: random logic.
enum RandomPredicateChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("random nested filters match as Swift closures do, in random orders", [.v6], random),
    ConformanceCheck("a predicate over a record's own values finds that record", [.v6], pivot),
    ConformanceCheck("an encoded and decoded predicate gives the same results", [.v6], coding),
  ]

  @Sendable private static func random(_ context: ContextUnderTest) throws {
    let people = Person.random(60, seed: 20)
    let repository = try context.makeRepository(with: people)
    var generator = ConditionGenerator(random: SeededGenerator(seed: 21))
    for _ in 0..<150 {
      let condition = generator.condition(depth: 4)
      let order = PeopleOrder.random(using: &generator.random)
      let expected = people.filter(condition.holds).sorted(by: order.precedes).map(\.id)
      let query = repository.filter(Person.self, where: condition.predicate)
      let found = try query.sorted(by: order).ids()
      try expect(found.map(\.exactText), equals: expected.map(\.exactText), "\(condition) \(order.criteria)")
      let counts = try (query.count(), repository.filter(Person.self, where: !condition.predicate).count())
      try expect(counts.0 == expected.count && counts.0 + counts.1 == people.count, "\(condition)")
    }
  }

  @Sendable private static func pivot(_ context: ContextUnderTest) throws {
    let people = Person.random(40, seed: 22)
    let repository = try context.makeRepository(with: people)
    for person in people {
      let all: PersistentPredicate<Person> =
        \.name == person.name && \.age == person.age && \.score == person.score && \.height == person.height
        && \.team == person.team && \.email == person.email && \.seat == person.seat
        && \.joined == person.joined && \.tags == person.tags
      try expect(repository.filter(Person.self, where: all).result().contains { $0.id == person.id })
      try expect(repository.filter(Person.self, where: all && \.id == person.id).count(), equals: 1)
    }
  }

  @Sendable private static func coding(_ context: ContextUnderTest) throws {
    let people = Person.random(30, seed: 23)
    let repository = try context.makeRepository(with: people)
    var generator = ConditionGenerator(random: SeededGenerator(seed: 24))
    for _ in 0..<30 {
      let condition = generator.condition(depth: 3)
      let data = try JSONEncoder().encode(condition.predicate)
      let decoded = try JSONDecoder().decode(PersistentPredicate<Person>.self, from: data)
      try expect(decoded, equals: condition.predicate)
      try expect(
        repository.filter(Person.self, where: decoded).ids(),
        equals: repository.filter(Person.self, where: condition.predicate).ids())
    }
  }
}
