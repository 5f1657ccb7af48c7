import PersistenceCore

/// R1 R2 R3: some properties of records.
enum SelectionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a selection returns the properties of the records that fetch returns, in the same order,"
        + " page by page", [.r3, .v2], selections),
    ConformanceCheck(
      "a selection is a snapshot, also inside a transaction, and rejects properties that are not stored",
      [.r2, .r1a, .e3], snapshots),
    ConformanceCheck(
      "a plan covers whole records and selections, shows no values, and rejects properties that"
        + " are not stored", [.e3], plans),
    ConformanceCheck(
      "a damaged value in a selection throws an error that names the model, and the key if the"
        + " key is selected", [.r4, .e2], damaged),
  ]

  @Sendable private static func selections(_ context: ContextUnderTest) throws {
    let people = Person.random(300, seed: 120)
    let repository = try context.makeRepository(with: people)
    let queries = [
      repository.filter(Person.self), repository.filter(Person.self, where: \.age != nil).sorted(by: \.score),
      repository.filter(Person.self).sorted(by: \.team, inOrder: .descending).sorted(by: \.age).limit(200)
        .offset(3),
    ]
    for (number, query) in queries.enumerated() {
      let whole = Array(try query.result())
      // A property of the filter, the order or the key, and some other properties.
      let selected = try query.select(\.height, \.name, \.age, \.email)
      try expect(selected.count, equals: whole.count, "query \(number)")
      for ((height, name, age, email), person) in zip(selected, whole) {
        try expect(height.exactText, equals: person.height.exactText, "query \(number), \(person.id)")
        try expect(name.exactText, equals: person.name.exactText, "query \(number), \(person.id)")
        try expect(age, equals: person.age, "query \(number), \(person.id)")
        try expect(email, equals: person.email, "query \(number), \(person.id)")
      }
      try expect(Array(query.select(\.id)), equals: whole.map(\.id), "query \(number)")
      let twice = try query.select(\.score, \.score)
      try expect(twice.allSatisfy { $0.0.exactText == $0.1.exactText }, "query \(number)")
      try expect(Array(twice).last?.0.exactText, equals: whole.last?.score.exactText, "query \(number)")
    }
    let bytes = try repository.filter(AllKinds.self).select(\.data, \.decimal, \.url, \.uuid)
    try expect(bytes.isEmpty)
    var random = SeededGenerator(seed: 121)
    let kinds = (0..<20).map { _ in AllKinds.random(using: &random) }
    try repository.save(contentsOf: kinds)
    let found = try repository.filter(AllKinds.self).select(\.id, \.data, \.decimal, \.url, \.date, \.metres)
    for (id, data, decimal, url, date, metres) in found {
      let saved = try require(kinds.first { $0.id == id })
      try expect(data, equals: saved.data)
      try expect(decimal.exactText, equals: saved.decimal.exactText)
      try expect(url.exactText, equals: saved.url.exactText)
      try expect(date.exactText, equals: saved.date.exactText)
      try expect(metres.exactText, equals: saved.metres.exactText)
    }
  }

  @Sendable private static func snapshots(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: (1...400).map { Account($0, balance: $0 % 10) })
    let query = repository.filter(Account.self).sorted(by: \.balance)
    let before = try query.select(\.id, \.balance)
    let inside = try repository.transaction { store in
      try store.update(Account.self, where: \.balance == 3, set: .set(\.balance, to: 77))
      return try store.filter(Account.self, where: \.balance == 77).select(\.id)
    }
    try repository.deleteAll(Account.self)
    try expect(before.map(\.1), equals: (0..<400).map { $0 / 40 })
    try expect(inside.map { $0 }, equals: stride(from: 3, through: 400, by: 10).map { $0 })
    try expectError(.unknownField) { try repository.filter(Account.self).select(\.id, \.note.count) }
  }

  @Sendable private static func damaged(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(Graded("b", .high, code: 1))
    let schema = try Graded.schema.model
    try RowStore(repository.storage, schema).save([[.text("a"), .text("XX"), .integer(7)]])
    for query in [
      repository.filter(Graded.self), repository.filter(Graded.self).sorted(by: \.title),
      repository.filter(Graded.self, where: \.title == "a"),
    ] {
      for select in [
        { try Array(query.select(\.grade)).count }, { try Array(query.select(\.title, \.grade)).count },
        { try Array(query.select(\.grade, \.title, \.grade)).count },
      ] {
        let error = try expectError(.unknownCase) { try select() }
        try expect(error.model == "Graded" && error.key == nil, "\(error)")
      }
      for select in [
        { try Array(query.select(\.code, \.grade)).count },
        { try Array(query.select(\.grade, \.title, \.code)).count },
      ] {
        try expect(expectError(.unknownCase) { try select() }.key, equals: RecordKey([.integer(7)]))
      }
    }
    try expectError(.unknownCase) {
      try repository.transaction { store in try store.filter(Graded.self).select(\.grade).count }
    }
    try expect(repository.filter(Graded.self).select(\.title).sorted(), equals: ["a", "b"])
  }

  @Sendable private static func plans(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let query = repository.filter(Account.self, where: \.balance == 31_415 && \.note == "secret").sorted(
      by: \.balance)
    for isEmpty in [true, false] {
      if !isEmpty { try repository.save(contentsOf: (1...50).map { Account($0, balance: $0) }) }
      for plan in [try query.explain(), try query.explain(selecting: \.id, \.balance)] {
        try expect(!plan.description.isEmpty)
        try expect(!plan.description.contains("31415"), "\(plan)")
        try expect(!plan.description.contains("secret"), "\(plan)")
      }
    }
    try expectError(.unknownField) { try query.explain(selecting: \.id, \.note.count) }
  }
}
