import PersistenceCore

/// O4: limit, offset and after.
enum PageChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "pages that start after the last record of the previous page cover the whole result", [.o4], keysets),
    ConformanceCheck("a page can start after a record that has been deleted", [.o4], afterDeleted),
    ConformanceCheck(
      "limit and offset apply after filter and sort, also for count and delete", [.o4], limitsAndOffsets),
    ConformanceCheck("a negative limit or offset throws an error", [.o4], negative),
  ]

  private static func filled(_ context: ContextUnderTest) throws -> (Repository, [Person]) {
    let people = Person.random(150, seed: 33)
    let repository = try context.makeRepository(with: people)
    return (repository, people)
  }

  @Sendable private static func keysets(_ context: ContextUnderTest) throws {
    let (repository, people) = try filled(context)
    let some: PersistentPredicate<Person> = \.team != "blue"
    for order in PeopleOrder.all {
      let query = repository.filter(Person.self).sorted(by: order)
      let expected = people.sorted(by: order.precedes)
      try expect(pages(of: 23, query).map(\.id), equals: expected.map(\.id), "\(order.criteria)")
      let filtered = expected.filter { $0.team != "blue" }.map(\.id)
      try expect(pages(of: 40, query.filter(where: some)).map(\.id), equals: filtered, "\(order.criteria)")
      let middle = expected[70]
      try expect(query.after(middle).count(), equals: 79, "\(order.criteria)")
      try expect(query.after(middle).offset(5).limit(3).ids(), equals: expected[76..<79].map(\.id))
      try expect(query.after(expected[149]).result().isEmpty)
    }
  }

  @Sendable private static func afterDeleted(_ context: ContextUnderTest) throws {
    let (repository, people) = try filled(context)
    let order = PeopleOrder().then(\.age, .descending).then(\.name)
    let expected = people.sorted(by: order.precedes)
    let query = repository.filter(Person.self).sorted(by: order)
    try repository.delete(expected[30])
    try expect(query.after(expected[30]).ids(), equals: expected[31...].map(\.id))
    try expect(query.after(expected[29]).first()?.id, equals: expected[31].id)
  }

  @Sendable private static func limitsAndOffsets(_ context: ContextUnderTest) throws {
    let (repository, people) = try filled(context)
    let order = PeopleOrder().then(\.score, .descending)
    let all = people.filter { $0.team != "red" }.sorted(by: order.precedes).map(\.id)
    let query = repository.filter(Person.self, where: \.team != "red").sorted(
      by: \.score, inOrder: .descending)
    for limit in [nil, 0, 1, 5, all.count - 1, all.count, all.count + 1, Int.max] as [Int?] {
      for offset in [0, 1, 7, all.count - 1, all.count, all.count + 1, Int.max] {
        let expected = Array(all.dropFirst(offset).prefix(limit ?? .max))
        let cut = limit.map { query.limit($0) } ?? query
        try expect(cut.offset(offset).ids(), equals: expected)
        try expect(cut.offset(offset).count(), equals: expected.count)
        try expect(cut.offset(offset).exists(), equals: !expected.isEmpty)
        try expect(cut.offset(offset).first()?.id, equals: expected.first)
      }
    }
    try expect(query.offset(2).limit(3).delete(), equals: 3)
    try expect(query.ids(), equals: Array(all[..<2] + all[5...]))
    try expect(query.limit(0).delete(), equals: 0)
    try expect(repository.count(Person.self), equals: people.count - 3)
  }

  @Sendable private static func negative(_ context: ContextUnderTest) throws {
    let (repository, _) = try filled(context)
    try expectError(.invalidRequest) { try repository.filter(Person.self).limit(-1).result() }
    try expectError(.invalidRequest) { try repository.filter(Person.self).offset(-1).result() }
    try expectError(.invalidRequest) { try repository.filter(Person.self).limit(-1).count() }
    try expectError(.invalidRequest) { try repository.filter(Person.self).offset(.min).delete() }
    for limit in [-1, .min] {
      try expectError(.invalidRequest, "\(limit)") { try repository.filter(Person.self).limit(limit).page() }
      try expectError(.invalidRequest, "\(limit)") { try repository.filter(Person.self).limit(limit).first() }
      try expectError(.invalidRequest, "\(limit)") {
        try repository.filter(Person.self).limit(limit).exists()
      }
    }
    for limit in [.max, .max - 1] {
      let page = try repository.filter(Person.self).limit(limit).offset(1).page()
      try expect(page.models.count == 149 && page.next == nil, "\(limit)")
    }
    let none = try repository.filter(Person.self).limit(0).page()
    try expect(none.models.isEmpty && none.next == nil)
    try expect(repository.count(Person.self), equals: 150)
  }
}
