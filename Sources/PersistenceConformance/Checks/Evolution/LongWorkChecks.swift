import PersistenceCore

/// S5, S8: work on many records, which reports its progress and can be cancelled.
enum LongWorkChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "an opening that is cancelled at any report of progress leaves the store as before", [.s5],
      needs: [.writable, .droppingModels], cancelledOpening),
    ConformanceCheck(
      "a cancelled opening leaves records, steps and unique indexes as before", [.s5, .s9],
      needs: [.writable, .droppingModels], cancelledParts),
    ConformanceCheck(
      "compact that ends early has erased whole fields and models, and can be called again", [.s8, .s5],
      needs: [.writable, .droppingModels], compacting),
  ]

  private enum Distinct: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Distinct.self]
  }

  private enum Erasing: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Ownerless.self]
    static let evolution: [EvolutionRule] = [.remove("owner", from: "Shelf"), .remove(model: "ShelfOwner")]
  }

  /// Opens a store with a schema, and cancels at a report; returns how many reports there were.
  private static func open(
    _ repository: Repository, _ schema: any StoreSchema.Type, cancellingAt limit: Int
  ) throws -> Int {
    var reports = 0
    _ = try Repository(repository.context, schema: schema) { progress in
      try expect(progress.total == 0 || progress.done <= progress.total, "\(progress)")
      reports += 1
      if reports == limit { throw SuiteError() }
    }
    return reports
  }

  @Sendable private static func cancelledOpening(_ context: ContextUnderTest) throws {
    let (_, repository) = try RuleChecks.filled(context, count: 300)
    let before = try StoredContent(repository.storage)
    // At least one report before the first record, and one at the end.
    var limit = 1
    var isDone = false
    while !isDone, limit < 100 {
      do {
        let reports = try open(repository, RuleChecks.Labeled.self, cancellingAt: limit)
        try expect(reports >= 2 && reports < limit, "\(reports) reports, cancelled at \(limit)")
        isDone = true
      } catch is SuiteError {
        try expect(StoredContent(repository.storage), equals: before, "cancelled at report \(limit)")
        limit += 1
      }
    }
    try expect(isDone && limit > 2, "an opening that reports no progress, or endlessly")
    try expect(repository.count(Shelf.Labeled.self), equals: 300)
  }

  @Sendable private static func cancelledParts(_ context: ContextUnderTest) throws {
    let schemas: [any StoreSchema.Type] = [RuleChecks.Split.self, Distinct.self]
    for schema in schemas {
      let (_, repository) = try RuleChecks.filled(context, count: 30)
      let before = try StoredContent(repository.storage)
      try expectThrows(SuiteError()) { _ = try open(repository, schema, cancellingAt: 1) }
      try expect(StoredContent(repository.storage), equals: before, "\(schema)")
      _ = try open(repository, schema, cancellingAt: 0)
    }
  }

  @Sendable private static func compacting(_ context: ContextUnderTest) throws {
    var (store, repository) = try RuleChecks.filled(context, count: 40)
    try repository.save(ShelfOwner(name: "o1", shelves: 1))
    try repository.evolved(Erasing.self)
    func removed() throws -> [RemovedContent] {
      try repository.removedFields() + repository.removedModels()
    }
    let all = try removed()
    try expect(all.map(\.name), equals: ["Shelf.owner", "ShelfOwner"])
    let before = try StoredContent(repository.storage)
    try expectThrows(SuiteError()) { try repository.compact(erasing: all) { _ in throw SuiteError() } }
    try expect(StoredContent(repository.storage), equals: before, "cancelled at the first report")
    try expectThrows(SuiteError(), "cancelled at the second model") {
      try repository.compact(erasing: all) { if $0.model == "ShelfOwner" { throw SuiteError() } }
    }
    for isReopened in [false, true] {
      if isReopened, try !store.reopen(&repository) { break }
      try expect(removed().map(\.name), equals: ["ShelfOwner"], "after an early end")
    }
    try expectError(.invalidRequest, "an erased field") { try repository.compact(erasing: all) }
    try expect(removed().map(\.name), equals: ["ShelfOwner"], "after a refusal")
    try repository.compact(erasing: removed())
    try expect(removed().isEmpty, "at the end")
    try expect(repository.count(Shelf.Ownerless.self), equals: 40)
  }
}
