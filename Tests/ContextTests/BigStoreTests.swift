import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport
import Testing

/// Changes of the schemas of models with so many records that new indexes wait.
///
/// The conformance suite tests the same with few records, at the level of drivers.
@Suite("Big stores")
struct BigStoreTests {
  struct Stopped: Error {}

  private static let count = 5_001
  /// The engines whose index builds take a time that grows with the records.
  private static let building = ContextUnderTest.ours.filter { ["sqlite", "lmdb"].contains($0.name) }

  private protocol Form: Sendable {
    static func indexes() -> [RecordIndex<Visit<Self>>]
  }

  private enum Plain: Form { static func indexes() -> [RecordIndex<Visit<Plain>>] { [] } }
  private enum Indexed: Form {
    static func indexes() -> [RecordIndex<Visit<Indexed>>] {
      [RecordIndex(\.place), RecordIndex(\.place, \.code)]
    }
  }
  private enum Guarded: Form {
    static func indexes() -> [RecordIndex<Visit<Guarded>>] {
      [RecordIndex(\.place), RecordIndex(\.code, isUnique: true)]
    }
  }

  private struct Visit<Variant: Form>: PersistentRecord, Hashable {
    var id: Int
    var place: String
    var code: Int

    static var schema: RecordSchema<Visit> {
      .shared(for: Visit.self) {
        RecordSchema(
          "Visit", fields: [.field("id", \.id), .field("place", \.place), .field("code", \.code)],
          key: [\.id], indexes: Variant.indexes())
      }
    }
    var primaryKey: Int { id }

    init(_ id: Int) { (self.id, place, code) = (id, "p\(id % 100)", -id) }
    init(from row: borrowing Row) throws {
      (id, place, code) = (try row.decode(at: 0), try row.decode(at: 1), try row.decode(at: 2))
    }
    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(place, at: 1)
      row.encode(code, at: 2)
    }
  }

  private enum IndexedSchema: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Visit<Indexed>.self]
  }
  private enum GuardedSchema: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Visit<Guarded>.self]
  }

  private func filled(_ store: StoreUnderTest, _ count: Int = count) throws -> Repository {
    let repository = try store.open()
    try repository.save(contentsOf: (1...count).map { Visit<Plain>($0) })
    return repository
  }

  private func access(_ repository: Repository) throws -> QueryPlan.Access {
    let store = try #require(repository.context.asStorageContext)
    let schema = try #require(try store.schema(named: "Visit"))
    return try store.plan(
      for: FetchRequest(schema, where: .comparison(field: "place", .equal, .text("p7")))
    ).access
  }

  private func expectRecords(_ repository: Repository, _ comment: Comment) throws {
    #expect(try repository.count(Visit<Indexed>.self) == Self.count, comment)
    #expect(try repository.filter(Visit<Indexed>.self, where: \.place == "p7").result().count == 50, comment)
    let sorted = repository.filter(Visit<Indexed>.self).sorted(by: \.place).sorted(by: \.code).limit(3)
    #expect(try Array(sorted.result()).map(\.id) == [5_000, 4_900, 4_800], comment)
  }

  @Test("S9 new indexes of a large model wait, until finishIndexes builds them", arguments: building)
  func waiting(context: ContextUnderTest) throws {
    try context.withScratch { context in
      let store = try context.makeStore()
      var repository = try filled(store)
      var openingReports = 0
      repository = try Repository(repository.context, schema: IndexedSchema.self) { _ in openingReports += 1 }
      #expect(openingReports == 0, "an opening that only declares indexes reads no record")
      #expect(try repository.unfinishedIndexes() == ["Visit": [["place"], ["place", "code"]]])
      #expect(try access(repository) == .scan)
      try expectRecords(repository, "before")
      var reports: [StoreProgress] = []
      try repository.finishIndexes { reports.append($0) }
      #expect(reports.allSatisfy { $0.phase == .indexing && $0.model == "Visit" && $0.total == Self.count })
      #expect(reports.map(\.done) == reports.map(\.done).sorted() && reports.last?.done == Self.count)
      try repository.finishIndexes { _ in Issue.record("a report without a waiting index") }
      for _ in 0..<2 {
        #expect(try repository.unfinishedIndexes().isEmpty)
        #expect(try access(repository) != .scan)
        try expectRecords(repository, "after")
        try repository.close()
        repository = try store.open()
      }
      try repository.close()
    }
  }

  @Test("S9 another opening continues a build that has ended early", arguments: building)
  func resuming(context: ContextUnderTest) throws {
    try context.withScratch { context in
      let store = try context.makeStore()
      var repository = try Repository(filled(store).context, schema: IndexedSchema.self)
      var reports = 0
      #expect(throws: Stopped.self) {
        try repository.finishIndexes { _ in
          reports += 1
          if reports == 2 { throw Stopped() }
        }
      }
      #expect(try !repository.unfinishedIndexes().isEmpty)
      try expectRecords(repository, "stopped")
      var moved = Visit<Plain>(7)
      moved.place = "p8"
      try repository.save(moved)
      try repository.close()
      repository = try store.open()
      #expect(try !repository.unfinishedIndexes().isEmpty)
      try repository.save(Visit<Plain>(7))
      try repository.finishIndexes()
      #expect(try repository.unfinishedIndexes().isEmpty)
      try expectRecords(repository, "finished")
      try repository.close()
    }
  }

  @Test(
    "S9 a unique index of a large model guards from its opening, while another index waits",
    arguments: building)
  func guarding(context: ContextUnderTest) throws {
    try context.withScratch { context in
      let repository = try Repository(filled(context.makeStore()).context, schema: GuardedSchema.self)
      #expect(try repository.unfinishedIndexes() == ["Visit": [["place"]]])
      var twin = Visit<Guarded>(Self.count + 1)
      twin.code = -3
      let error = #expect(throws: PersistenceError.self) { try repository.insert(twin) }
      #expect(error?.code == .uniqueViolation)
      try repository.finishIndexes()
      #expect(throws: PersistenceError.self) { try repository.insert(twin) }
      try repository.close()
    }
  }

  @Test("a small model's indexes are built in the opening", arguments: ContextUnderTest.ours)
  func small(context: ContextUnderTest) throws {
    try context.withScratch { context in
      let repository = try Repository(filled(context.makeStore(), 100).context, schema: IndexedSchema.self)
      #expect(try repository.unfinishedIndexes().isEmpty)
      #expect(try repository.filter(Visit<Indexed>.self, where: \.place == "p7").result().count == 1)
      try repository.close()
    }
  }

  @Test("S5 a cancelled task cancels openings and index builds", arguments: ContextUnderTest.ours)
  func tasks(context: ContextUnderTest) async throws {
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try context.withScratch { context in
        let repository = try filled(context.makeStore(), 50)
        let store = try #require(repository.context.asStorageContext)
        let before = try store.catalog()
        #expect(throws: CancellationError.self) {
          try Repository(repository.context, schema: GuardedSchema.self)
        }
        #expect(try store.catalog() == before)
        #expect(try repository.count(Visit<Plain>.self) == 50)
        try store.transaction { transaction in
          let schema = before[0]
          let target = try ModelSchema(
            name: "Visit", fields: schema.fields, key: schema.key, indexes: [IndexSchema(["place"])])
          var change = try SchemaChange(from: schema, to: target, sources: (0..<3).map { .field($0) })
          change.defersIndexes = true
          try transaction.evolve(change)
        }
        if try repository.unfinishedIndexes().isEmpty { return try repository.finishIndexes() }
        #expect(throws: CancellationError.self) { try repository.finishIndexes() }
        #expect(try !repository.unfinishedIndexes().isEmpty)
        try repository.close()
      }
    }
    try await task.value
  }
}
