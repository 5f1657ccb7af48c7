import PersistenceCore
import PersistenceDriverSupport
import Synchronization

/// S5, S6, S10: openings with a schema, one after another and at the same time.
enum OpeningChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "opening again with the same schema changes nothing and begins no transaction", [.s6],
      needs: [.writable, .droppingModels], again),
    ConformanceCheck(
      "skipping versions ends with the records that taking each version gives", [.s6],
      needs: [.writable, .droppingModels], skipping),
    ConformanceCheck(
      "openings with one schema at the same time make its change once", [.s5, .s6, .w6],
      needs: [.writable, .droppingModels], together),
    ConformanceCheck(
      "results and snapshots from before a change keep their schema and records", [.s10, .r2],
      needs: [.writable, .droppingModels], snapshots),
    ConformanceCheck(
      "another context on the same store learns of a change at its next call", [.s10, .c2, .s1],
      needs: [.writable, .multiProcess, .droppingModels], otherContext),
  ]

  private enum Indexed: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Indexed.self]
  }

  private enum Plain: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Plain.self, Account.self]
    static let evolution: [EvolutionRule] = [
      .remove(index: "title", of: "Shelf"), .remove("place", was: "site", from: "Shelf"),
    ]
  }

  private static var schemas: [any StoreSchema.Type] {
    [
      AdditionChecks.Added.self, OlderVersionChecks.Renamed.self, LeftBehindChecks.Wide.self,
      LeftBehindChecks.Owned.self, LeftBehindChecks.Ownerless.self, RuleChecks.Labeled.self,
      RuleChecks.Split.self, RuleChecks.Shelfless.self, RuleChecks.Moved.self, Indexed.self, Plain.self,
    ]
  }

  /// Counts transactions.
  private final class CountingContext: StorageContextWrapper {
    let wrapped: any StorageContext
    let transactions = Atomic(0)

    init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

    func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
      transactions.add(1, ordering: .relaxed)
      try wrapped.transaction(mode, body)
    }
  }

  @Sendable private static func again(_ context: ContextUnderTest) throws {
    for schema in schemas {
      for isNew in [false, true] {
        let place = "\(schema), " + (isNew ? "a new store" : "a store from before")
        let store = try context.makeStore()
        var repository = try store.open()
        if !isNew { try repository.save(contentsOf: Shelf.First.samples(5)) }
        try repository.evolved(schema)
        let before = try StoredContent(repository.storage)
        for isReopened in [false, true] {
          if isReopened, try !store.reopen(&repository) { break }
          let counting = CountingContext(try repository.storage)
          _ = try Repository(counting, schema: schema)
          try expect(counting.transactions.load(ordering: .relaxed), equals: 0, "transactions, \(place)")
          try expect(StoredContent(repository.storage), equals: before, place)
        }
        try repository.close()
      }
    }
  }

  @Sendable private static func skipping(_ context: ContextUnderTest) throws {
    func compare<Model: PersistentRecord & Equatable>(_ schema: any StoreSchema.Type, _ model: Model.Type)
      throws
    {
      let (_, each) = try RuleChecks.filled(context, count: 20)
      let (_, last) = try RuleChecks.filled(context, count: 20)
      try each.evolved(AdditionChecks.Added.self)
      try each.evolved(Indexed.self)
      try each.evolved(schema)
      try last.evolved(schema)
      let expected = try Array(last.fetch(model))
      try expect(expected.count, equals: 20, "\(schema)")
      try expect(Array(each.fetch(model)), equals: expected, "\(schema)")
    }
    try compare(RuleChecks.Labeled.self, Shelf.Labeled.self)
    try compare(LeftBehindChecks.Ownerless.self, Shelf.Ownerless.self)
    try compare(LeftBehindChecks.Owned.self, Shelf.Owned.self)
    try compare(LeftBehindChecks.Wide.self, Shelf.Wide.self)
    try compare(RuleChecks.Moved.self, Shelf.Rack.self)
  }

  @Sendable private static func together(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open(.patient)
    try repository.save(contentsOf: Shelf.First.samples(60))
    let isShared = try repository.storage.capabilities.isMultiProcess
    try Threads.run(4) { number in
      let own = isShared && number > 0 ? try store.open(.patient) : repository
      try own.evolved(RuleChecks.Split.self)
      try expect(own.count(Shelf.Ownerless.self), equals: 60)
      if number > 0, isShared { try own.close() }
    }
    let owners = try repository.fetch(ShelfOwner.self)
    try expect(owners.map(\.shelves), equals: Array(repeating: 1, count: 40))
    try expect(repository.fetch(Shelf.Ownerless.self).map(\.id), equals: Array(1...60))
  }

  @Sendable private static func snapshots(_ context: ContextUnderTest) throws {
    let (_, repository) = try RuleChecks.filled(context, count: 600)
    let records = Shelf.First.samples(600)
    let storage = try repository.storage
    let (first, labeled) = (try Shelf.First.schema.model, try Shelf.Labeled.schema.model)
    let snapshot = try storage.snapshot()
    let rows = try RowStore.rows(of: FetchRequest(first), from: snapshot)
    let all = try repository.filter(Shelf.First.self).result()
    let sorted = try repository.filter(Shelf.First.self).sorted(by: \.title, inOrder: .descending).result()
    try repository.evolved(AdditionChecks.Added.self)
    let middle = try repository.filter(Shelf.Second.self, where: \.rating == 3).result()
    try repository.evolved(RuleChecks.Labeled.self)
    try repository.write(Shelf.Labeled.self, id: 1) { $0.label = "later" }
    try repository.filter(Shelf.Labeled.self, where: \.id > 500).delete()
    try expect(Array(all), equals: records, "a result")
    let titles = records.sorted { ($0.title, $0.id) > ($1.title, $1.id) }
    try expect(Array(sorted), equals: titles, "a sorted result")
    try expect(Array(middle), equals: records.map { Shelf.Second($0) }, "a result of the version between")
    try expect(snapshot.schema(named: "Shelf"), equals: first, "the schema of the snapshot")
    try expect(RowStore.rows(of: FetchRequest(first), from: snapshot), equals: rows, "rows of the snapshot")
    try expect(snapshot.count(FetchRequest(first)), equals: 600, "the count of the snapshot")
    try expectError(.schemaMismatch, "a later schema") { try snapshot.count(FetchRequest(labeled)) }
    let now = try storage.snapshot()
    try expect(now.schema(named: "Shelf")?.position(of: "label") != nil, "the schema of a new snapshot")
    try expectError(.schemaMismatch, "an earlier schema") { try now.fetch(FetchRequest(first)) }
    try expect(repository.count(Shelf.Labeled.self), equals: 500)
  }

  @Sendable private static func otherContext(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let (one, other) = (try store.open(), try store.open())
    try one.save(contentsOf: Shelf.First.samples(300))
    var expected = Shelf.First.samples(300)
    try expect(Array(other.fetch(Shelf.First.self)), equals: expected)
    let held = try other.filter(Shelf.First.self).result()
    try one.evolved(AdditionChecks.Added.self)
    try one.save(Shelf.Second(expected[0], note: "one", rating: 1))
    try expect(Array(other.fetch(Shelf.First.self)), equals: expected, "after an addition")
    try other.save(Shelf.First.sample(301))
    expected.append(.sample(301))
    expected[0].title = "changed"
    try other.save(expected[0])
    let added = try require(one.find(Shelf.Second.self, id: 301))
    try expect(added, equals: Shelf.Second(.sample(301)), "a record of the older version")
    try expect(one.find(Shelf.Second.self, id: 1), equals: Shelf.Second(expected[0], note: "one", rating: 1))
    try expect(other.filter(Shelf.Second.self, where: \.rating != 3).ids(), equals: [1], "the newer version")
    try one.evolved(OlderVersionChecks.Renamed.self)
    try expect(
      other.filter(Shelf.First.self, where: \.title == "changed").ids(), equals: [1], "after a rename")
    try other.transaction { inside in
      try inside.write(Shelf.First.self, id: 2) { $0.title = "changed" }
      try inside.save(Shelf.First.sample(302))
    }
    expected[1].title = "changed"
    expected.append(.sample(302))
    try expect(Array(one.fetch(Shelf.Renamed.self)), equals: expected.map { Shelf.Renamed($0) })
    try one.evolved(LeftBehindChecks.Ownerless.self)
    for _ in 0..<2 {
      try expectErrors(
        .newerStore, "after a removal", calls: { try other.fetch(Shelf.First.self) },
        { try other.save(Shelf.First.sample(1)) }, { try other.find(Shelf.First.self, id: 1) })
    }
    try expect(other.count(Shelf.Ownerless.self), equals: 302)
    try expect(Array(held), equals: Shelf.First.samples(300), "a result from before all changes")
  }
}
