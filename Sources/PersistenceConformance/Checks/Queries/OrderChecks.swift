import PersistenceCore

/// O1 to O4: identity, order and pages.
enum OrderChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("keys can be Int, Int64, String, UUID, or wrappers of them", [.o1], keys),
    ConformanceCheck("a compound key sorts field by field", [.o1, .o2], compositeKeys),
    ConformanceCheck(
      "orders are total: the key breaks ties in the last direction, nil is first ascending and"
        + " last descending", [.o2, .o3], orders),
    ConformanceCheck(
      "a reversed query has the opposite order, with limit, offset and pages", [.o2, .o4], reversed),
    ConformanceCheck(
      "every kind sorts by its own order, nil first ascending and last descending", [.o3, .v4]
    ) { context in for type in SampledTypes.all { try kinds(context, type) } },
  ]

  @Sendable private static func reversed(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: Person.random(300, seed: 33))
    for order in PeopleOrder.all {
      let query = repository.filter(Person.self).sorted(by: order)
      let expected = Array(try query.ids().reversed())
      let reversed = query.reversed()
      try expect(reversed.ids(), equals: expected, "\(order.criteria)")
      let part = try query.limit(10).offset(3).reversed().result()
      try expect(part.map(\.id), equals: Array(expected.dropFirst(3).prefix(10)))
      try expect(pages(of: 70, reversed).map(\.id), equals: expected, "\(order.criteria)")
      try expect(reversed.reversed().ids(), equals: expected.reversed())
      try expect(reversed.first()?.id == expected.first && reversed.count() == expected.count)
    }
  }

  @Sendable private static func orders(_ context: ContextUnderTest) throws {
    let people = Person.random(300, seed: 31)
    let repository = try context.makeRepository(with: people)
    for order in PeopleOrder.all {
      let expected = people.sorted(by: order.precedes).map(\.id)
      let query = repository.filter(Person.self).sorted(by: order)
      try expect(query.ids(), equals: expected, "\(order.criteria)")
      let some: PersistentPredicate<Person> = \.age > 1 || \.age == nil
      let filtered = people.filter { $0.age.map { $0 > 1 } ?? true }.sorted(by: order.precedes).map(
        \.id)
      try expect(query.filter(where: some).ids(), equals: filtered, "\(order.criteria)")
    }
  }

  private static func kinds<Value: SampledValue>(_ context: ContextUnderTest, _ type: Value.Type) throws {
    let models = Sample<Value>.all(seed: 32)
    let repository = try context.makeRepository(with: models)
    let query = repository.filter(Sample<Value>.self)
    func sorted(_ order: (Sample<Value>, Sample<Value>) -> Int) -> [Int] {
      models.sorted { order($0, $1) == 0 ? $0.id < $1.id : order($0, $1) < 0 }.map(\.id)
    }
    let up = sorted { Value.oracle($0.value, $1.value) }
    try expect(query.sorted(by: \.value).ids(), equals: up)
    try expect(query.sorted(by: \.value, inOrder: .descending).ids(), equals: up.reversed())
    let maybe = sorted { Value?.oracle($0.maybe, $1.maybe) }
    try expect(query.sorted(by: \.maybe).ids(), equals: maybe)
    try expect(query.sorted(by: \.maybe, inOrder: .descending).ids(), equals: maybe.reversed())
    try expect(
      pages(of: 5, query.sorted(by: \.maybe, inOrder: .descending)).map(\.id), equals: maybe.reversed())
  }
}
