import PersistenceCore

/// S3, S4: older versions of an app that a store has left behind.
enum LeftBehindChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "wider kinds and new optionality keep every value, and older versions get newerStore", [.s4, .s1],
      needs: [.writable, .droppingModels], wider),
    ConformanceCheck(
      "after a field became required, older versions get newerStore and change nothing", [.s4],
      needs: [.writable, .droppingModels], required),
    ConformanceCheck(
      "one value for several nils of a unique field is refused, with the way out, and changes nothing",
      [.s5, .e4], needs: [.writable, .droppingModels], claimed),
    ConformanceCheck(
      "a new store knows what its declarations say of the past, so an older version adds nothing",
      [.s4, .s3],
      needs: [.writable, .droppingModels], newStore),
    ConformanceCheck(
      "after a model was renamed or removed, an older version does not start an empty one", [.s3, .s4],
      needs: [.writable, .droppingModels], olderModelNames),
  ]

  enum Wide: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Wide.self]
  }

  enum Owned: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Owned.self]
    static let evolution: [EvolutionRule] = [.fill(\Shelf.Owned.owner, with: "nobody")]
  }

  private enum Claimed: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Claimed.self]
    static let evolution: [EvolutionRule] = [.fill(\Shelf.Claimed.owner, with: "nobody")]
  }

  enum Ownerless: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Ownerless.self]
    static let evolution: [EvolutionRule] = [.remove("owner", from: "Shelf")]
  }

  /// Checks that the first version gets newerStore for every call, and changes nothing.
  private static func expectNewer(
    _ repository: Repository, codes: [PersistenceError.Code] = [.newerStore], _ place: String
  ) throws {
    let before = try StoredContent(repository.storage)
    let calls: [() throws -> Any?] = [
      { try repository.find(Shelf.First.self, id: 1) }, { try repository.fetch(Shelf.First.self) },
      { try repository.filter(Shelf.First.self).sum(\.price) },
      { try repository.save(Shelf.First.sample(1)) },
      { try repository.delete(Shelf.First.sample(1)) },
      { try repository.transaction { try $0.insert(Shelf.First.sample(99)) } },
    ]
    for (number, call) in calls.enumerated() {
      do {
        let result = try call()
        throw ConformanceFailure(
          "call \(number), \(place)", expected: "an error", found: "\(String(describing: result))",
          file: #fileID, line: #line)
      } catch let error as PersistenceError {
        try expect(codes.contains(error.code), "call \(number), \(place): \(error)")
        try expect(!error.differences.isEmpty && error.model == "Shelf", "call \(number), \(place): \(error)")
      }
    }
    try expect(StoredContent(repository.storage), equals: before, "after the calls, \(place)")
  }

  @Sendable private static func wider(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    let old = Shelf.First.samples(20)
    try repository.save(contentsOf: old)
    try repository.evolved(Wide.self)
    var expected = old.map { Shelf.Wide($0) }
    try expect(Array(repository.fetch(Shelf.Wide.self)), equals: expected)
    try expectNewer(repository, "after the change")
    expected[2] = Shelf.Wide(id: 3, title: nil, pages: 5_000_000_000, price: 0.1, owner: nil)
    try repository.save(expected[2])
    for isReopened in [false, true] {
      if isReopened, try !store.reopen(&repository) { break }
      try expect(Array(repository.fetch(Shelf.Wide.self)), equals: expected)
      try expect(repository.filter(Shelf.Wide.self, where: \.price == 0.1).ids(), equals: [3])
      try expect(repository.filter(Shelf.Wide.self, where: \.pages > 2_147_483_647).ids(), equals: [3])
      try expect(repository.filter(Shelf.Wide.self, where: \.title == nil).ids(), equals: [3])
      try expect(repository.filter(Shelf.Wide.self).sorted(by: \.title).first()?.id, equals: 3)
      try expect(repository.filter(Shelf.Wide.self, where: \.price == 1.25).ids(), equals: [5])
    }
    try expectNewer(repository, "at the end")
  }

  @Sendable private static func required(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try repository.save(contentsOf: Shelf.First.samples(9))
    let before = try StoredContent(repository.storage)
    let error = try expectError(.schemaMismatch, "without a rule") { try repository.fetch(Shelf.Owned.self) }
    try expect(error.differences.map(\.kind), equals: [.optional])
    try expect(StoredContent(repository.storage), equals: before, "without a rule")
    try repository.evolved(Owned.self)
    func check(_ place: String) throws {
      try expect(
        Array(repository.fetch(Shelf.Owned.self)),
        equals: Shelf.First.samples(9).map {
          Shelf.Owned(id: $0.id, title: $0.title, owner: $0.owner ?? "nobody")
        },
        place)
      let nobody = repository.filter(Shelf.Owned.self, where: \.owner == "nobody")
      try expect(nobody.ids(), equals: [3, 6, 9], "the fill, \(place)")
    }
    try check("after the change")
    try expectNewer(repository, "after the change")
    if try store.reopen(&repository) {
      try expectNewer(repository, "after reopening")
      try check("after reopening")
    }
  }

  @Sendable private static func claimed(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: Shelf.Distinct.samples(9))
    let before = try StoredContent(repository.storage)
    let error = try expectError(.uniqueViolation) { try repository.evolved(Claimed.self) }
    try expect(error.field, equals: "owner")
    try expect(error.message.contains(".fill") && error.message.contains(".compute"), "\(error)")
    try expect(StoredContent(repository.storage), equals: before)
    for id in [3, 6] { try repository.delete(Shelf.Distinct.self, id: id) }
    try repository.evolved(Claimed.self)
    try expect(repository.find(Shelf.Claimed.self, id: 9)?.owner, equals: "nobody")
  }

  @Sendable private static func newStore(_ context: ContextUnderTest) throws {
    let renamed = try context.makeStore().open()
    try renamed.evolved(OlderVersionChecks.Renamed.self)
    try renamed.save(Shelf.First.sample(1))
    try expect(Array(renamed.fetch(Shelf.Renamed.self)), equals: [Shelf.Renamed.sample(1)])
    try expect(renamed.storage.schema(named: "Shelf"), equals: Shelf.Renamed.schema.model, "a rename")
    let removed = try context.makeStore().open()
    try removed.evolved(Ownerless.self)
    try removed.save(Shelf.Ownerless(id: 1, title: "t", pages: 1, price: 1))
    try expectNewer(removed, codes: [.schemaMismatch, .newerStore], "a removed field")
    try expect(removed.count(Shelf.Ownerless.self), equals: 1)
  }

  @Sendable private static func olderModelNames(_ context: ContextUnderTest) throws {
    let moved = try context.makeStore().open()
    try moved.save(contentsOf: Shelf.First.samples(5))
    try moved.evolved(RuleChecks.Moved.self)
    try expect(Array(moved.fetch(Shelf.First.self)), equals: Shelf.First.samples(5), "the earlier model name")
    try moved.save(Shelf.First.sample(6))
    try expect(moved.fetch(Shelf.Rack.self).map(\.id), equals: Array(1...6), "the new model name")
    let removed = try context.makeStore().open()
    try removed.save(contentsOf: Shelf.First.samples(5))
    try removed.evolved(RuleChecks.Shelfless.self)
    try expectNewer(removed, "a removed model")
  }
}
