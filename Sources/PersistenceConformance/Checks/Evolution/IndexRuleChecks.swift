import PersistenceCore

/// S9, S5: indexes that are added and removed.
enum IndexRuleChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a new index contains earlier records, and a unique one guards from the opening that builds it", [.s9],
      needs: [.writable, .droppingModels], indexes),
    ConformanceCheck(
      "a unique index over colliding records throws uniqueViolation, and the store is as before", [.s5, .w4],
      needs: [.writable, .droppingModels], collision),
  ]

  private enum Indexed: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Indexed.self]
  }

  private enum Distinct: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Distinct.self]
  }

  private enum Plain: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Plain.self]
    static let evolution: [EvolutionRule] = [.remove(index: "title", of: "Shelf")]
  }

  @Sendable private static func indexes(_ context: ContextUnderTest) throws {
    var (store, repository) = try RuleChecks.filled(context, count: 200)
    func check(_ count: Int, _ place: String) throws {
      let records = Shelf.Indexed.samples(count)
      let sorted = records.sorted { ($0.owner ?? "", $0.price, $0.id) < ($1.owner ?? "", $1.price, $1.id) }
      let query = repository.filter(Shelf.Indexed.self).sorted(by: \.owner).sorted(by: \.price)
      try expect(query.ids(), equals: sorted.map(\.id), place)
      try expect(repository.filter(Shelf.Indexed.self, where: \.owner == "o50").ids(), equals: [50], place)
      let few = repository.filter(Shelf.Indexed.self, where: \.owner == nil && \.price < 5)
      try expect(few.ids(), equals: [3, 6, 9, 12, 15, 18], place)
      try expect(Array(repository.fetch(Shelf.First.self)), equals: Shelf.First.samples(count), place)
    }
    try check(200, "without the index")
    try repository.evolved(Indexed.self)
    try check(200, "after the index is built")
    try repository.save(Shelf.First.sample(201))
    try check(201, "after a write of the first version")
    try repository.evolved(Distinct.self)
    for isReopened in [false, true] {
      if isReopened, try !store.reopen(&repository) { break }
      try check(201, "with a unique index")
      var other = Shelf.Distinct.sample(300)
      other.owner = "o50"
      try expectError(.uniqueViolation, "the unique index") { try repository.save(other) }
      try expectError(.uniqueViolation, "the first version") { try repository.save(Shelf.First(other)) }
    }
    try repository.evolved(Plain.self)
    let indexes = try require(repository.storage.schema(named: "Shelf")).indexes
    try expect(!indexes.contains(IndexSchema(["title"])) && indexes.count == 2, "\(indexes)")
    try check(201, "without the index of titles")
    try expect(
      repository.filter(Shelf.First.self, where: \.title == "t3").count(),
      equals: Shelf.First.samples(201).count { $0.title == "t3" })
  }

  @Sendable private static func collision(_ context: ContextUnderTest) throws {
    let (_, repository) = try RuleChecks.filled(context)
    var twin = Shelf.First.sample(11)
    twin.owner = "o4"
    try repository.save(twin)
    let before = try StoredContent(repository.storage)
    let error = try expectError(.uniqueViolation) { try repository.evolved(Distinct.self) }
    try expect(error.model == "Shelf", "\(error)")
    try expect(StoredContent(repository.storage), equals: before)
    try repository.delete(twin)
    try repository.evolved(Distinct.self)
    try expectError(.uniqueViolation) { try repository.save(Shelf.Distinct(twin)) }
  }
}
