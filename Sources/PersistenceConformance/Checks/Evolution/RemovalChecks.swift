import PersistenceCore

/// S8, S3: removed fields and models, restored and erased.
enum RemovalChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a removed field is listed, restored with its values, and erased only by compact", [.s8, .s3],
      needs: [.writable, .droppingModels], fields),
    ConformanceCheck(
      "a removed model is listed, restored with its records, and erased only by compact", [.s8],
      needs: [.writable, .droppingModels], models),
    ConformanceCheck(
      "a rule restores a removed field and model in every store that a release made", [.s8, .s4, .s6],
      needs: [.writable, .droppingModels], restorations),
  ]

  @Sendable private static func fields(_ context: ContextUnderTest) throws {
    let (_, repository) = try RuleChecks.filled(context)
    try repository.evolved(LeftBehindChecks.Ownerless.self)
    try repository.insert(Shelf.Ownerless(id: 11, title: "t", pages: 1, price: 1))
    try expect(repository.removedFields().map(\.name), equals: ["Shelf.owner"])
    try expect(repository.removedModels().isEmpty)
    try repository.restore("owner", from: "Shelf")
    let records = Shelf.First.samples(10) + [Shelf.First(id: 11, title: "t", pages: 1, price: 1, owner: nil)]
    try expect(Array(repository.fetch(Shelf.First.self)), equals: records, "after restoring")
    try expect(repository.filter(Shelf.First.self, where: \.owner == "o7").ids(), equals: [7])
    try repository.save(Shelf.First.sample(11))
    try expect(repository.removedFields().isEmpty)
    try expectError(.invalidRequest, "restoring twice") { try repository.restore("owner", from: "Shelf") }
    try repository.evolved(LeftBehindChecks.Ownerless.self)
    let removed = try repository.removedFields()
    try expect(removed.map(\.name), equals: ["Shelf.owner"], "removed again")
    try repository.compact(erasing: removed)
    let content = try StoredContent(repository.storage)
    try expect(content.schema("Shelf")?.fields, equals: Shelf.Ownerless.schema.model.fields, "after erasing")
    try expect(repository.fetch(Shelf.Ownerless.self).map(\.id), equals: Array(1...11))
    try expectError(.newerStore, "the first version") { try repository.count(Shelf.First.self) }
    try expectErrors(
      .invalidRequest, "after erasing", calls: { try repository.compact(erasing: removed) },
      { try repository.restore("owner", from: "Shelf") })
    try expect(StoredContent(repository.storage), equals: content)
  }

  private enum Restoring: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.First.self, Account.self]
    static let evolution: [EvolutionRule] = [.restore("owner", from: "Shelf"), .restore(model: "Shelf")]
  }

  @Sendable private static func restorations(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try repository.save(contentsOf: Shelf.First.samples(10))
    var records = Shelf.First.samples(10)
    func check(_ place: String) throws {
      try repository.evolved(Restoring.self)
      try expect(Array(repository.fetch(Shelf.First.self)), equals: records, place)
      let titled = records.filter { $0.title == "t3" }.map(\.id)
      try expect(repository.filter(Shelf.First.self, where: \.title == "t3").ids(), equals: titled, place)
      try expect(repository.removedFields().isEmpty && repository.removedModels().isEmpty, place)
      let content = try StoredContent(repository.storage)
      try repository.evolved(Restoring.self)
      try expect(StoredContent(repository.storage), equals: content, "\(place), opened again")
    }
    try check("nothing was removed")
    try repository.evolved(LeftBehindChecks.Ownerless.self)
    try repository.insert(Shelf.Ownerless(id: 11, title: "t", pages: 1, price: 1))
    records.append(Shelf.First(id: 11, title: "t", pages: 1, price: 1, owner: nil))
    try check("a field was removed")
    try repository.evolved(RuleChecks.Shelfless.self)
    try store.reopen(&repository)
    try check("the model was removed")
    try repository.evolved(LeftBehindChecks.Ownerless.self)
    try repository.compact(erasing: repository.removedFields())
    for number in records.indices { records[number].owner = nil }
    try check("the field was erased")
    try repository.evolved(RuleChecks.Shelfless.self)
    try repository.compact(erasing: repository.removedModels())
    records = []
    try check("the model was erased")
    // Stores of the releases that removed them never had them.
    for schema in [LeftBehindChecks.Ownerless.self, RuleChecks.Shelfless.self] as [any StoreSchema.Type] {
      repository = try context.makeStore().open()
      try repository.evolved(schema)
      try check("a store of \(schema)")
      try repository.save(contentsOf: Shelf.First.samples(3))
    }
  }

  @Sendable private static func models(_ context: ContextUnderTest) throws {
    let (_, repository) = try RuleChecks.filled(context)
    try repository.evolved(RuleChecks.Shelfless.self)
    try expect(repository.removedModels().map(\.name), equals: ["Shelf"])
    try expect(repository.removedFields().isEmpty)
    try repository.restore(model: "Shelf")
    try expect(Array(repository.fetch(Shelf.First.self)), equals: Shelf.First.samples(10), "after restoring")
    try repository.save(Shelf.First.sample(11))
    try expectError(.invalidRequest, "restoring twice") { try repository.restore(model: "Shelf") }
    try repository.evolved(RuleChecks.Shelfless.self)
    let removed = try repository.removedModels()
    try expect(removed.map(\.name), equals: ["Shelf"], "removed again")
    try repository.compact(erasing: removed)
    let fields = try Shelf.First.schema.model.fields
    try expect(!repository.storage.catalog().contains { $0.fields == fields }, "after erasing")
    try expect(repository.removedModels().isEmpty, "after erasing")
    try expectErrors(
      .invalidRequest, "after erasing", calls: { try repository.compact(erasing: removed) },
      { try repository.restore(model: "Shelf") })
  }
}
