import PersistenceCore

/// S1, S2, S12: added fields.
enum AdditionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "records from before a field have its fill in lookups, conditions, orders, aggregates and pages,"
        + " before and after the store has the field", [.s2, .s1], needs: [.writable, .droppingModels], fills),
    ConformanceCheck(
      "a fill is that of the moment when its field was added, whatever a later version declares", [.s2],
      needs: [.writable, .droppingModels], laterFill),
    ConformanceCheck(
      "a unique index over a new field contains the fill of earlier records", [.s2, .s5, .w4],
      needs: [.writable, .droppingModels], uniqueFill),
    ConformanceCheck(
      "without a schema, reads never change the store, and the first write adds fields if only the catalog"
        + " changes", [.s1], firstWrite),
    ConformanceCheck(
      "an update in place as the first write adds fields, too", [.s1], firstUpdate),
    ConformanceCheck(
      "a read-only store is read as if it had the new fields, names and kinds, and stays as it is", [.s12],
      needs: [.writable, .files], readOnly),
  ]

  enum Added: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Second.self]
  }

  private enum Later: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Later.self]
  }

  private enum Ranked: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Ranked.self]
  }

  // MARK: - Fills

  @Sendable private static func fills(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try repository.save(contentsOf: Shelf.First.samples(40))
    var expected = Shelf.First.samples(40).map { Shelf.Second($0) }
    try check(repository, expected, "before the change")
    try repository.evolved(Added.self)
    try check(repository, expected, "after the change")
    for id in [4, 9, 41, 42, 43] {
      let record = Shelf.Second(.sample(id), note: "n\(id % 2)", rating: id % 5)
      try repository.save(record)
      expected.removeAll { $0.id == id }
      expected.append(record)
    }
    try check(repository, expected, "with new records")
    try repository.transaction { try check($0, expected, "inside a transaction") }
    try repository.filter(Shelf.Second.self, where: \.rating == 3 && \.id <= 20).update(.set(\.rating, to: 8))
    for index in expected.indices where expected[index].rating == 3 && expected[index].id <= 20 {
      expected[index].rating = 8
    }
    try repository.filter(Shelf.Second.self, where: \.rating == 3 && \.id > 35).delete()
    expected.removeAll { $0.rating == 3 && $0.id > 35 }
    try check(repository, expected, "after updates and deletions by the fill")
    if try store.reopen(&repository) { try check(repository, expected, "after reopening") }
  }

  /// Checks every way to read records against records in memory.
  private static func check(
    _ repository: any PersistentRepository, _ records: [Shelf.Second], _ place: String
  ) throws {
    let records = records.sorted { $0.id < $1.id }
    let all = repository.filter(Shelf.Second.self)
    try expect(Array(repository.fetch(Shelf.Second.self)), equals: records, place)
    for record in records {
      try expect(repository.find(Shelf.Second.self, id: record.id), equals: record, "find, \(place)")
    }
    func expectMatches(
      _ predicate: PersistentPredicate<Shelf.Second>, _ matches: (Shelf.Second) -> Bool, line: UInt = #line
    ) throws {
      let query = repository.filter(Shelf.Second.self, where: predicate)
      let expected = records.filter(matches)
      try expect(Array(query.result()), equals: expected, place, line: line)
      try expect(query.count(), equals: expected.count, "count, \(place)", line: line)
    }
    try expectMatches(\.rating == 3) { $0.rating == 3 }
    try expectMatches(\.rating != 3) { $0.rating != 3 }
    try expectMatches(\.rating > 2) { $0.rating > 2 }
    try expectMatches(\.rating < 3) { $0.rating < 3 }
    try expectMatches(.in(\.rating, [3, 4])) { [3, 4].contains($0.rating) }
    try expectMatches(.between(\.rating, 1...3)) { (1...3).contains($0.rating) }
    try expectMatches(\.note == nil) { $0.note == nil }
    try expectMatches(\.note != nil) { $0.note != nil }
    try expectMatches(!(\.note == "n1")) { $0.note != "n1" }
    try expectMatches(\.note <= "n1") { ($0.note ?? "z") <= "n1" }
    try expectMatches(\.title > "t4" && \.rating == 3) { $0.title > "t4" && $0.rating == 3 }
    try expectMatches(\.owner == nil || \.rating > 3) { $0.owner == nil || $0.rating > 3 }

    let byRating = records.sorted { ($0.rating, $0.id) > ($1.rating, $1.id) }
    try expect(
      all.sorted(by: \.rating, inOrder: .descending).ids(), equals: byRating.map(\.id), "by rating, \(place)")
    let byNote = records.sorted { ($0.note ?? "", $0.rating, $0.id) < ($1.note ?? "", $1.rating, $1.id) }
    try expect(
      all.sorted(by: \.note).sorted(by: \.rating).ids(), equals: byNote.map(\.id), "by note, \(place)")
    let byTitle = records.sorted { ($0.title, $0.rating, $0.id) < ($1.title, $1.rating, $1.id) }
    let titled = all.sorted(by: \.title).sorted(by: \.rating)
    try expect(pages(of: 7, titled), equals: byTitle, "pages by title and rating, \(place)")
    var page = try titled.limit(9).page()
    var found = page.models
    while let next = page.next {
      page = try titled.limit(9).after(next).page()
      found += page.models
    }
    try expect(found, equals: byTitle, "pages by token, \(place)")

    let ratings = records.map(\.rating)
    try expect(all.sum(\.rating), equals: ratings.reduce(0, +), "sum, \(place)")
    try expect(all.min(\.rating), equals: ratings.min(), "minimum, \(place)")
    try expect(all.max(\.rating), equals: ratings.max(), "maximum, \(place)")
    try expect(all.distinct(\.rating), equals: Set(ratings).sorted(), "distinct values, \(place)")
    let groups = try all.count(by: \.rating)
    try expect(
      groups.map { [$0.key, $0.value] },
      equals: Set(ratings).sorted().map { rating in [rating, ratings.count { $0 == rating }] },
      "groups, \(place)")
    try expect(Array(all.select(\.rating)), equals: ratings, "selection, \(place)")
    try expect(
      repository.filter(Shelf.Second.self, where: \.title == "t2").sum(\.rating),
      equals: records.filter { $0.title == "t2" }.map(\.rating).reduce(0, +), "sum of a title, \(place)")
  }

  @Sendable private static func laterFill(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try repository.save(contentsOf: Shelf.First.samples(10))
    try repository.evolved(Added.self)
    try repository.save(Shelf.Second(.sample(2), note: "two", rating: 9))
    try repository.evolved(Later.self)
    // A new record of an older version gets the fills of the same moments.
    try repository.save(Shelf.First.sample(11))
    try repository.save(Shelf.Later(id: 3, title: "three", rating: 9, stars: 1))
    func check(_ place: String) throws {
      let seconds = try Array(repository.fetch(Shelf.Second.self))
      try expect(seconds.map(\.rating), equals: [3, 9, 9, 3, 3, 3, 3, 3, 3, 3, 3], "ratings, \(place)")
      let later = try Array(repository.fetch(Shelf.Later.self))
      try expect(later.map(\.rating), equals: seconds.map(\.rating), "ratings of the later version, \(place)")
      try expect(later.map(\.stars), equals: [5, 5, 1, 5, 5, 5, 5, 5, 5, 5, 5], "stars, \(place)")
      try expect(repository.filter(Shelf.Later.self, where: \.rating == 9).ids(), equals: [2, 3], place)
      try expect(repository.filter(Shelf.Later.self, where: \.stars != 5).ids(), equals: [3], place)
    }
    try check("after the changes")
    try repository.evolved(Later.self)
    try check("after opening again")
    if try store.reopen(&repository) { try check("after reopening") }
  }

  @Sendable private static func uniqueFill(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: Shelf.First.samples(2))
    let before = try StoredContent(repository.storage)
    try expectError(.uniqueViolation, "two records with the fill") { try repository.evolved(Ranked.self) }
    try expect(StoredContent(repository.storage), equals: before, "after the rejected change")
    try repository.delete(Shelf.First.sample(2))
    try repository.evolved(Ranked.self)
    try expectError(.uniqueViolation, "a second fill") { try repository.insert(Shelf.First.sample(5)) }
    try expect(repository.filter(Shelf.Ranked.self, where: \.rating == 3).ids(), equals: [1])
    try repository.update(Shelf.Ranked(id: 1, rating: 4))
    try repository.insert(Shelf.First.sample(5))
    try expectError(.uniqueViolation, "another version") { try repository.insert(Shelf.First.sample(6)) }
    try expect(Array(repository.fetch(Shelf.First.self)), equals: [.sample(1), .sample(5)])
    try expect(repository.filter(Shelf.Ranked.self).sorted(by: \.rating).ids(), equals: [5, 1])
  }

  // MARK: - Reads that change nothing

  @Sendable private static func firstWrite(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let storage = try repository.storage
    let old = Shelf.First.samples(12)
    try repository.save(contentsOf: old)
    let before = try StoredContent(storage)
    try check(repository, old.map { Shelf.Second($0) }, "without a schema")
    _ = try repository.filter(Shelf.Second.self, where: \.rating > 2).sorted(by: \.title).explain()
    try expect(StoredContent(storage), equals: before, "after reading")
    let cost = try cost(in: storage)
    let changed = Shelf.Second(.sample(1), note: "one", rating: 1)
    guard cost == .catalog else {
      let error = try expectError(.schemaMismatch, "a write that costs more") { try repository.save(changed) }
      try expect(error.differences.map(\.kind), equals: [.cost(cost)])
      return try expect(StoredContent(storage), equals: before, "after the rejected write")
    }
    try expectThrows(SuiteError(), "a rollback") {
      try repository.transaction { inside in
        try inside.save(changed)
        throw SuiteError()
      }
    }
    try expect(StoredContent(storage), equals: before, "after the rollback")
    try check(repository, old.map { Shelf.Second($0) }, "after the rollback")
    try repository.save(changed)
    try expect(storage.schema(named: "Shelf"), equals: Shelf.Second.schema.model, "after the first write")
    try check(repository, [changed] + old.dropFirst().map { Shelf.Second($0) }, "after the first write")
    try expect(Array(repository.fetch(Shelf.First.self)), equals: old, "the first version")
  }

  /// The cost of the new fields.
  private static func cost(in storage: any StorageContext) throws -> EvolutionCost {
    try storage.cost(
      of: SchemaChange(
        from: Shelf.First.schema.model, to: Shelf.Second.schema.model,
        sources: (0..<5).map { .field($0) } + [.fill(.null), .fill(.integer(3))]))
  }

  @Sendable private static func firstUpdate(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let old = Shelf.First.samples(12)
    try repository.save(contentsOf: old)
    let changed = repository.filter(Shelf.Second.self, where: \.id <= 3)
    guard try cost(in: repository.storage) == .catalog else {
      try expectError(.schemaMismatch, "an update that costs more") {
        try changed.update(.set(\.rating, to: 8), .set(\.note, to: "new"))
      }
      return
    }
    let expected = old.map {
      $0.id <= 3 ? Shelf.Second($0, note: "new", rating: 8) : Shelf.Second($0)
    }
    let count = expected.count { $0.rating == 8 }
    try expect(changed.update(.set(\.rating, to: 8), .set(\.note, to: "new")), equals: count)
    try check(repository, expected, "after the first write")
  }

  @Sendable private static func readOnly(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let writer = try store.open()
    let old = Shelf.First.samples(20)
    try writer.save(contentsOf: old)
    try writer.close()
    let repository = try store.open(.readOnly)
    let before = try StoredContent(repository.storage)
    try check(repository, old.map { Shelf.Second($0) }, "without a schema")
    let evolved = try repository.evolved(Added.self)
    try check(evolved, old.map { Shelf.Second($0) }, "with a schema")
    try expect(
      Array(repository.fetch(Shelf.Renamed.self)), equals: old.map { Shelf.Renamed($0) }, "new names")
    try expect(
      repository.filter(Shelf.Renamed.self, where: \.title == "t3").sorted(by: \.price).ids(),
      equals: [3, 10, 17], "a condition with a new name")
    try expect(Array(repository.fetch(Shelf.Wide.self)), equals: old.map { Shelf.Wide($0) }, "wider kinds")
    try expect(
      repository.filter(Shelf.Wide.self, where: \.price >= 1.5 && \.pages < 5_000_000_000).ids(),
      equals: Array(6...20), "a condition with wider kinds")
    try expectError(.readOnly, "a write") { try evolved.save(Shelf.Second(.sample(1))) }
    try expect(StoredContent(repository.storage), equals: before, "after reading")
    try repository.close()
    let again = try store.open()
    try expect(Array(again.fetch(Shelf.First.self)), equals: old, "the first version")
  }
}
