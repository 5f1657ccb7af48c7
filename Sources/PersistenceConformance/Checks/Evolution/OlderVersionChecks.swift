import PersistenceCore

/// S1, S3, S11: older versions of an app beside newer ones.
enum OlderVersionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "an older version goes on beside a newer one, and its writes keep the fields that it lacks", [.s1],
      needs: [.writable, .droppingModels], besideAdditions),
    ConformanceCheck(
      "a version that lacks a required field without a fill cannot insert, and still changes records", [.s1],
      needs: [.writable, .droppingModels], withoutFill),
    ConformanceCheck(
      "after a rename, an older version reads and writes the field under its earlier name", [.s1, .s3],
      needs: [.writable, .droppingModels], besideRename),
    ConformanceCheck(
      "the earlier name of a field is not given to another field", [.s3],
      needs: [.writable, .droppingModels], reusedName),
    ConformanceCheck(
      "a page token stays valid while other fields are added and renamed, also between versions",
      [.s11, .o4], needs: [.writable, .droppingModels], tokens),
    ConformanceCheck(
      "without a schema, a declaration reads its model under the earlier name", [.s1], earlierModelName),
  ]

  enum Renamed: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Renamed.self]
  }

  private enum Later: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Later.self]
  }

  private enum Reused: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Reused.self]
  }

  // MARK: - Beside additions

  @Sendable private static func besideAdditions(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try repository.save(contentsOf: Shelf.First.samples(12))
    try repository.evolved(AdditionChecks.Added.self)
    var expected: [Int: Shelf.Second] = [:]
    for id in 1...12 {
      let record = Shelf.Second(.sample(id), note: id % 2 == 0 ? "n\(id)" : nil, rating: id)
      expected[id] = record
      try repository.update(record)
    }
    func check(_ place: String) throws {
      let records = expected.values.sorted { $0.id < $1.id }
      try expect(Array(repository.fetch(Shelf.Second.self)), equals: records, "the newer version, \(place)")
      try expect(Array(repository.fetch(Shelf.First.self)), equals: records.map(\.first), place)
      for record in records {
        try expect(repository.find(Shelf.First.self, id: record.id), equals: record.first, "find, \(place)")
      }
      let titled = repository.filter(Shelf.First.self, where: \.title >= "t3").sorted(by: \.owner)
      let matching = records.filter { $0.title >= "t3" }
        .sorted { ($0.owner ?? "", $0.id) < ($1.owner ?? "", $1.id) }
      try expect(titled.ids(), equals: matching.map(\.id), "a condition and an order, \(place)")
      try expect(titled.max(\.price), equals: matching.map(\.price).max(), "a maximum, \(place)")
      let rated = repository.filter(Shelf.Second.self, where: \.rating == 3).sorted(by: \.title)
      try expect(Set(rated.ids()), equals: Set(records.filter { $0.rating == 3 }.map(\.id)), place)
    }
    func write(_ inside: any PersistentRepository, _ title: String, from first: Int) throws {
      func change(_ id: Int, _ change: (inout Shelf.First) -> Void) throws -> Shelf.First {
        var record = try require(expected[id]).first
        change(&record)
        expected[id]?.title = record.title
        expected[id]?.owner = record.owner
        expected[id]?.price = record.price
        return record
      }
      try inside.save(change(first) { $0.title = title })
      try inside.update(change(first + 1) { $0.owner = nil })
      _ = try change(first + 2) { $0.price = 99 }
      try inside.write(Shelf.First.self, id: first + 2) { $0.price = 99 }
      _ = try change(first + 3) { $0.title = title }
      try inside.filter(Shelf.First.self, where: \.id == first + 3).update(.set(\.title, to: title))
      let added = [Shelf.First.sample(first + 20), Shelf.First.sample(first + 40)]
      try inside.save(contentsOf: [change(first) { $0.owner = title }, added[0]])
      try inside.insert(added[1])
      for record in added { expected[record.id] = Shelf.Second(record) }
      let newer = Shelf.Second(.sample(first + 60), note: title, rating: 60)
      try inside.save(newer)
      expected[newer.id] = newer
      try expect(inside.delete(Shelf.First.sample(first + 4)))
      expected[first + 4] = nil
      try expectError(.duplicateKey) { try inside.insert(Shelf.First.sample(first)) }
      try expectError(.notFound) { try inside.update(Shelf.First.sample(first + 4)) }
    }
    try check("at first")
    try write(repository, "outside", from: 1)
    try check("after writes")
    let before = expected
    try expectThrows(SuiteError()) {
      try repository.transaction { inside in
        try write(inside, "undone", from: 7)
        throw SuiteError()
      }
    }
    expected = before
    try check("after a rollback")
    try repository.transaction { try write($0, "inside", from: 7) }
    try check("after a transaction")
    if try store.reopen(&repository) {
      try repository.save(Shelf.First.sample(70))
      expected[70] = Shelf.Second(.sample(70))
      try check("after reopening")
    }
  }

  @Sendable private static func withoutFill(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: Shelf.First.samples(3))
    try repository.evolved(Later.self)
    let error = try expectError(.schemaMismatch, "insert") {
      try repository.insert(Shelf.Later(id: 4, title: "four", rating: 4, stars: 4))
    }
    try expect(["pages", "price"].contains(error.field), "\(error)")
    try expectError(.schemaMismatch, "save") {
      try repository.save(Shelf.Later(id: 4, title: "four", rating: 4, stars: 4))
    }
    try repository.save(Shelf.Later(id: 2, title: "two", rating: 2, stars: 2))
    try repository.write(Shelf.Later.self, id: 3) { $0.title = "three" }
    var expected = Shelf.First.samples(3)
    (expected[1].title, expected[2].title) = ("two", "three")
    try expect(Array(repository.fetch(Shelf.First.self)), equals: expected)
    try expect(Array(repository.fetch(Shelf.Later.self)).map(\.stars), equals: [5, 2, 5])
  }

  // MARK: - Beside renames

  @Sendable private static func besideRename(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    var expected = Shelf.First.samples(20)
    try repository.save(contentsOf: expected)
    try repository.evolved(Renamed.self)
    func check(_ place: String) throws {
      try expect(Array(repository.fetch(Shelf.First.self)), equals: expected, place)
      try expect(
        Array(repository.fetch(Shelf.Renamed.self)), equals: expected.map { Shelf.Renamed($0) },
        "new, \(place)")
      for title in ["t2", "new", "old"] {
        let ids = expected.filter { $0.title == title }.map(\.id)
        try expect(repository.filter(Shelf.First.self, where: \.title == title).ids(), equals: ids, place)
        try expect(
          repository.filter(Shelf.Renamed.self, where: \.title == title).ids(), equals: ids, "new, \(place)")
      }
      let sorted = expected.sorted { ($0.title, $0.id) < ($1.title, $1.id) }.map(\.id)
      try expect(repository.filter(Shelf.First.self).sorted(by: \.title).ids(), equals: sorted, place)
      try expect(repository.filter(Shelf.Renamed.self).sorted(by: \.title).ids(), equals: sorted, place)
      try expect(
        repository.filter(Shelf.First.self).distinct(\.title), equals: Set(expected.map(\.title)).sorted(),
        place)
    }
    try check("after the rename")
    (expected[0].title, expected[1].title, expected[2].title) = ("old", "old", "new")
    try repository.save(expected[0])
    try repository.filter(Shelf.First.self, where: \.id == 2).update(.set(\.title, to: "old"))
    try repository.save(Shelf.Renamed(expected[2]))
    expected.append(Shelf.First.sample(21))
    try repository.insert(expected[20])
    try check("after writes")
    let schema = try require(repository.storage.schema(named: "Shelf"))
    try expect(schema.position(of: "title") == nil && schema.position(of: "name") != nil, "\(schema)")
    if try store.reopen(&repository) {
      try repository.save(expected[4])
      try check("after reopening")
      try expect(repository.storage.schema(named: "Shelf"), equals: schema, "after reopening")
    }
  }

  @Sendable private static func reusedName(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: Shelf.First.samples(5))
    try repository.evolved(Renamed.self)
    let before = try StoredContent(repository.storage)
    for call in [
      { _ = try repository.evolved(Reused.self) }, { _ = try repository.count(Shelf.Reused.self) },
      { try repository.save(Shelf.Reused(id: 1, name: "", title: "")) },
    ] {
      let error = try expectError(.schemaMismatch, "an earlier name") { try call() }
      try expect(error.differences.map(\.kind), equals: [.renamed("name")])
      try expect(error.differences.first?.field?.name, equals: "title")
    }
    try expect(StoredContent(repository.storage), equals: before)
  }

  @Sendable private static func earlierModelName(_ context: ContextUnderTest) throws {
    let (_, repository) = try RuleChecks.filled(context, count: 5)
    let before = try StoredContent(repository.storage)
    try expect(Array(repository.fetch(Shelf.Rack.self)), equals: Shelf.Rack.samples(5))
    try expect(repository.find(Shelf.Rack.self, id: 3), equals: .sample(3))
    try expect(repository.filter(Shelf.Rack.self, where: \.title == "t2").ids(), equals: [2])
    try expect(repository.count(Shelf.Rack.self), equals: 5)
    try expect(StoredContent(repository.storage), equals: before)
  }

  // MARK: - Tokens

  @Sendable private static func tokens(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: Shelf.First.samples(30))
    let query = repository.filter(Shelf.First.self, where: \.price > 1).sorted(by: \.title)
    let expected = try query.ids()
    let token = try require(query.limit(8).page().next)
    try repository.evolved(AdditionChecks.Added.self)
    try expect(query.after(token).ids(), equals: Array(expected[8...]), "after an addition")
    // A newer version has the same filter and order, and other fields beside them.
    let newer = repository.filter(Shelf.Second.self, where: \.price > 1).sorted(by: \.title)
    try expect(newer.after(token).ids(), equals: Array(expected[8...]), "in a newer version")
    let second = try require(newer.after(token).limit(8).page().next)
    try expectError(.invalidRequest, "another filter") {
      try repository.filter(Shelf.Second.self, where: \.rating == 3).sorted(by: \.title).after(token).result()
    }
    try repository.evolved(Renamed.self)
    try expect(query.after(token).ids(), equals: Array(expected[8...]), "after a rename")
    try expect(query.after(second).ids(), equals: Array(expected[16...]), "after both")
    try repository.save(Shelf.First.sample(32))
    try expect(query.after(second).count(), equals: expected.count - 15, "with a new record")
  }
}
