import PersistenceCore

/// O2 O3 O4: pages by every kind of value.
enum KindPageChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "pages of any size cover a filtered result completely, in any order of any kind, with ties and nils",
      [.o2, .o3, .o4]
    ) { context in for type in SampledTypes.all { try everyKind(context, type) } },
    ConformanceCheck(
      "after applies first, then offset, then limit, up to the largest numbers", [.o4], combined),
    ConformanceCheck(
      "a repeated field in an order, or a field after the whole key, changes nothing", [.o2], repeatedFields),
  ]

  private static func everyKind<Value: SampledValue>(_ context: ContextUnderTest, _ type: Value.Type) throws {
    typealias Model = Sample<Value>
    var random = SeededGenerator(seed: 34)
    let few = Value.samples.shuffled(using: &random).prefix(5)
    let models = (0..<18).map { id in
      Model(
        id: id, value: random.pick(Array(few)), other: random.pick(Array(few)),
        maybe: random.oneIn(3) ? nil : random.pick(Array(few)),
        perhaps: random.oneIn(3) ? nil : random.pick(Array(few)))
    }
    let repository = try context.makeRepository(with: models.shuffled(using: &random))
    let some: PersistentPredicate<Model> = \.perhaps != few.first || \.maybe == nil
    let matching = models.filter { Value?.oracle($0.perhaps, few.first) != 0 || $0.maybe == nil }
    for (name, isDescending, size) in [
      ("value", true, 4), ("maybe", true, 1), ("maybe", false, 5), ("perhaps", false, 2),
      ("perhaps", true, 7), ("other", true, 3),
    ] {
      let sorted = matching.sorted { left, right in
        let order =
          switch name {
          case "value": Value.oracle(left.value, right.value)
          case "other": Value.oracle(left.other, right.other)
          case "maybe": Value?.oracle(left.maybe, right.maybe)
          default: Value?.oracle(left.perhaps, right.perhaps)
          }
        let total = order == 0 ? left.id - right.id : order
        return isDescending ? total > 0 : total < 0
      }
      let query = repository.filter(Model.self, where: some).sorted(
        by: SortCriterion(fieldOrder: FieldOrder(name, isDescending: isDescending)))
      let what = "\(Value.self) by \(FieldOrder(name, isDescending: isDescending)), pages of \(size)"
      try expect(pages(of: size, query).map(\.exactText), equals: sorted.map(\.asStored.exactText), what)
      try expect(query.result().reversed().map(\.id), equals: sorted.reversed().map(\.id), what)
      for (place, model) in sorted.enumerated() where place % 7 == 0 {
        try expect(
          query.after(model).count(), equals: sorted.count - place - 1, what + " after \(model.exactText)")
      }
    }
  }

  @Sendable private static func combined(_ context: ContextUnderTest) throws {
    let people = Person.random(40, seed: 35)
    let repository = try context.makeRepository(with: people)
    for order in [
      PeopleOrder(), PeopleOrder().then(\.age, .descending), PeopleOrder().then(\.height).then(\.name),
    ] {
      let sorted = people.filter { $0.team != "red" }.sorted(by: order.precedes)
      let query = repository.filter(Person.self, where: \.team != "red").sorted(by: order)
      for place in [0, 3, sorted.count - 2, sorted.count - 1] {
        for offset in [0, 5, sorted.count, Int.max] {
          for limit in [0, 4, Int.max] {
            let cut = query.after(sorted[place]).offset(offset).limit(limit)
            let expected = sorted.dropFirst(place + 1).dropFirst(offset).prefix(limit).map(\.id)
            let what = "\(order.criteria) after number \(place), offset \(offset), limit \(limit)"
            try expect(cut.ids(), equals: expected, what)
            try expect(cut.count(), equals: expected.count, what)
          }
        }
      }
    }
    let last = try require(repository.filter(Person.self).result().last)
    try expect(repository.filter(Person.self).after(last).limit(.max).delete(), equals: 0)
    let second = try require(repository.filter(Person.self).offset(1).first())
    try expect(repository.filter(Person.self).after(second).offset(3).limit(.max).delete(), equals: 35)
    try expect(repository.count(Person.self), equals: 5)
  }

  @Sendable private static func repeatedFields(_ context: ContextUnderTest) throws {
    let people = Person.random(60, seed: 36)
    let repository = try context.makeRepository(with: people)
    let query = repository.filter(Person.self)
    let order = PeopleOrder().then(\.team).then(\.age, .descending)
    let expected = people.sorted(by: order.precedes).map(\.id)
    let twice = query.sorted(by: \.team).sorted(by: \.age, inOrder: .descending)
      .sorted(by: \.team, inOrder: .descending).sorted(by: \.age)
    try expect(twice.ids(), equals: expected)
    try expect(pages(of: 7, twice).map(\.id), equals: expected)
    let byKey = query.sorted(by: \.id, inOrder: .descending).sorted(by: \.age)
    let keys = people.sorted { String.oracle($0.id, $1.id) > 0 }.map(\.id)
    try expect(byKey.ids(), equals: keys)
    try expect(pages(of: 7, byKey).map(\.id), equals: keys)
  }
}
