import PersistenceCore

/// L6: orders by fields of related records.
enum RelatedOrderChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("a query sorts by a field of the record to which a reference leads", [.l6], sorted),
    ConformanceCheck("an absent record sorts as nil, and ties go by the own key", [.l6, .o2, .o3], absent),
    ConformanceCheck("limit, offset, pages and anchors follow a related order", [.l6, .o4], pages),
    ConformanceCheck("selections, inclusions, updates and deletes follow a related order", [.l6], uses),
    ConformanceCheck("random related orders agree with plain sorting", [.l6], random),
  ]

  @Sendable private static func sorted(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    let films = repository.filter(Film.self)
    try expect(films.sorted(by: \.studio, \.name).ids(), equals: [1, 3, 2])
    try expect(films.sorted(by: \.studio, \.name, inOrder: .descending).ids(), equals: [2, 3, 1])
    try expect(films.sorted(by: \.studio, \.name).sorted(by: \.title).ids(), equals: [3, 1, 2])
    try expect(films.sorted(by: \.studio, \.name).sorted(by: \.title).reversed().ids(), equals: [2, 1, 3])
    try expect(films.sorted(by: \.director, \.age, inOrder: .descending).ids(), equals: [2, 1, 3])
    try expect(
      films.filter(where: .has(\.studio, \.name == "A24")).sorted(by: \.director, \.age).ids(),
      equals: [3, 1])
    let roles = try repository.filter(Role.self).sorted(by: \.actor, \.age).result()
    try expect(roles.map(\.name), equals: ["extra", "lead"])
    try repository.transaction { store in
      try store.save(Studio(1, "Z"))
      try expect(store.filter(Film.self).sorted(by: \.studio, \.name).ids(), equals: [2, 1, 3])
    }
  }

  @Sendable private static func absent(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    try repository.save(Film(4, studio: 2))
    let films = repository.filter(Film.self)
    try expect(films.sorted(by: \.director, \.age).ids(), equals: [3, 4, 1, 2])
    try expect(films.sorted(by: \.director, \.age, inOrder: .descending).ids(), equals: [2, 1, 4, 3])
    try repository.transaction { store in
      try store.delete(Performer.self, where: \.id == "none")
      try store.insert(Film(5, studio: 9))
      try expect(store.filter(Film.self).sorted(by: \.studio, \.name).ids(), equals: [5, 1, 3, 2, 4])
      try store.delete(Film.self, id: 5)
    }
  }

  @Sendable private static func pages(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    try repository.save(contentsOf: (10..<60).map { Film($0, studio: $0 % 2 + 1) })
    let query = repository.filter(Film.self).sorted(by: \.studio, \.name)
    let all = try query.ids()
    try expect(all.count, equals: 53)
    try expect(query.offset(3).limit(7).ids(), equals: Array(all[3..<10]))
    try expect(query.limit(7).count(), equals: 7)
    var found: [Int] = []
    var page = try query.limit(10).page()
    found += page.models.map(\.id)
    while let next = page.next {
      page = try query.limit(10).after(next).page()
      found += page.models.map(\.id)
    }
    try expect(found, equals: all)
    let last = try require(repository.find(Film.self, id: all[20]))
    try expect(query.after(last).limit(3).ids(), equals: Array(all[21..<24]))
    let token = try query.token(after: last)
    try expectError(.invalidRequest) { try repository.filter(Film.self).after(token).result() }
    try expectError(.invalidRequest) { try query.limit(-1).result() }
    try expect(query.first()?.id, equals: all[0])
    try expect(query.result().dropFirst(50).map(\.id), equals: Array(all[50...]))
  }

  @Sendable private static func uses(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    let query = repository.filter(Film.self).sorted(by: \.studio, \.name, inOrder: .descending)
    try expect(query.select(\.title).map { $0 }, equals: ["Ponyo", "Aftersun", "Moonlight"])
    try expect(query.including(\.studio).result().map { $0.1.name }, equals: ["Ghibli", "A24", "A24"])
    try expect(query.limit(1).update(.set(\.title, to: "first")), equals: 1)
    try expect(repository.find(Film.self, id: 2)?.title, equals: "first")
    try expect(query.offset(1).limit(1).max(\.id), equals: 3)
    try expect(query.offset(1).delete(), equals: 2)
    try expect(repository.filter(Film.self).ids(), equals: [2])
  }

  @Sendable private static func random(_ context: ContextUnderTest) throws {
    let repository = Repository(try context.makeStore().open().context)
    var random = SeededGenerator(seed: 6)
    let studios = (0..<9).map { Studio($0, random.pick(["", "a", "é", "z"])) }
    let films = (0..<200).map { Film($0, random.pick(["x", "y"]), studio: random.int(0...8)) }
    try repository.save(contentsOf: studios)
    try repository.save(contentsOf: films)
    for isDescending in [false, true] {
      let order: SortDirection = isDescending ? .descending : .ascending
      let found = try repository.filter(Film.self).sorted(by: \.title).sorted(
        by: \.studio, \.name, inOrder: order
      ).ids()
      let expected = films.sorted { left, right in
        if left.title != right.title { return left.title < right.title }
        let (first, second) = (studios[left.studio.key].name, studios[right.studio.key].name)
        if Array(first.utf8) != Array(second.utf8) {
          return first.utf8.lexicographicallyPrecedes(second.utf8) != isDescending
        }
        return (left.id < right.id) != isDescending
      }
      try expect(found, equals: expected.map(\.id))
    }
  }
}
