import PersistenceCore
import PersistenceDriverSupport

/// U1, S11: observers while another version of the app changes the schema.
enum ObservationSchemaChecks {
  static let all: [ConformanceCheck] = [
    check("an observer gets no update for a change of the catalog, and every later write", catalog),
    check("an observer gets unknown changes when records are rewritten", rewritten),
    check("an observer whose model no longer has a mapping ends with newerStore, without a write", ended),
    check("an older version observes a field that a newer version has renamed", renamedField),
    check("an older version observes a model that a newer version has renamed", renamedModel),
    check("a change of the schema that is rolled back changes nothing for an observer", rolledBack),
  ]

  private static func check(
    _ title: String, _ body: @escaping @Sendable (Repository) async throws -> Void
  ) -> ConformanceCheck {
    ConformanceCheck(
      asynchronous: title, [.s11, .u1], needs: [.writable, .reportingCommits, .droppingModels]
    ) { context in
      let repository = try context.makeStore().open(.patient)
      try await Watchdog.limit { try await body(repository) }
    }
  }

  private enum Measured: StoreSchema {
    static let models: [any PersistentRecord.Type] = [MeasuredShelf.self]
    static let evolution: [EvolutionRule] = [
      .compute(\MeasuredShelf.half, from: "pages") { old in try old("pages", as: Int32.self) / 2 }
    ]
  }

  @Sendable private static func catalog(_ repository: Repository) async throws {
    try repository.save(contentsOf: Shelf.First.samples(4))
    var updates = repository.updates(of: Shelf.First.self, where: \.title == "new").makeAsyncIterator()
    let first = try await updates.required()
    try expect(first.results.count, equals: 0)
    let waiting = CheckExecutor.task { [updates] in
      var own = updates
      return try await own.required().results.map(\.id)
    }
    try repository.evolved(AdditionChecks.Added.self)
    var record = Shelf.Second(.sample(3), note: "n", rating: 1)
    record.title = "new"
    try repository.save(record)
    let ids = try await waiting.value
    try expect(ids, equals: [3], "the first update after the change is that of the write")
    try repository.save(record)
    let second = try await updates.required()
    try expect(second.changes, equals: .keys(ChangedKeys(updated: [RecordKey([.integer(3)])])))
  }

  @Sendable private static func rewritten(_ repository: Repository) async throws {
    let first = Shelf.First.samples(5)
    try repository.save(contentsOf: first)
    var updates = repository.updates(of: Shelf.First.self, where: \.id > 2).makeAsyncIterator()
    var accounts = repository.updates(of: Account.self).makeAsyncIterator()
    _ = try await (updates.required(), accounts.required())
    try repository.evolved(Measured.self)
    try repository.save(MeasuredShelf(id: 5, pages: first[4].pages, half: 0))
    let update = try await updates.required()
    try expect(update.changes, equals: .unknown)
    try expect(Array(update.results), equals: Array(first[2...]))
    // The next update of another model is that of its own change.
    try repository.save(Account(1, balance: 1))
    try await accounts.expectNext(.keys(ChangedKeys(inserted: [RecordKey([.integer(1)])])), ids: [1])
  }

  @Sendable private static func ended(_ repository: Repository) async throws {
    try repository.save(contentsOf: Shelf.First.samples(5))
    try await expectEnd(of: Shelf.First.self, by: LeftBehindChecks.Ownerless.self, repository)
    try await expectEnd(of: Shelf.Ownerless.self, by: RuleChecks.Shelfless.self, repository)
  }

  /// Expects a change of the schema alone to end an observer.
  private static func expectEnd<Model: PersistentRecord>(
    of model: Model.Type, by schema: any StoreSchema.Type, _ repository: Repository
  ) async throws {
    let observable = try require(repository.storage.innermost as? any ObservableContext)
    var updates = repository.updates(of: model).makeAsyncIterator()
    _ = try await updates.required()
    try repository.evolved(schema)
    try await expectAsyncError(.newerStore, "\(schema)") { try await updates.required() }
    try expect(!observable.observers.isObserved, "\(schema)")
  }

  @Sendable private static func renamedField(_ repository: Repository) async throws {
    try await expectFollowing(OlderVersionChecks.Renamed.self, Shelf.Renamed.self, repository)
  }

  @Sendable private static func renamedModel(_ repository: Repository) async throws {
    try await expectFollowing(RuleChecks.Moved.self, Shelf.Rack.self, repository)
  }

  /// Expects an observer of the first version to get the writes of a version with other names.
  private static func expectFollowing<Form>(
    _ schema: any StoreSchema.Type, _ newer: ShelfRecord<Form>.Type, _ repository: Repository
  ) async throws {
    try repository.save(contentsOf: Shelf.First.samples(6))
    var updates = repository.updates(of: Shelf.First.self, where: \.title == "new").makeAsyncIterator()
    _ = try await updates.required()
    try repository.evolved(schema)
    var record = newer.sample(2)
    record.title = "new"
    try repository.save(record)
    let first = try await updates.required()
    try expect(first.results.map(\.id), equals: [2], "\(schema)")
    // The observer now knows the names, so its changes are exact.
    try repository.save(record)
    let second = try await updates.required()
    try expect(second.changes, equals: .keys(ChangedKeys(updated: [RecordKey([.integer(2)])])), "\(schema)")
  }

  @Sendable private static func rolledBack(_ repository: Repository) async throws {
    try repository.save(contentsOf: Shelf.First.samples(3))
    let storage = try repository.storage
    let stored = try require(storage.schema(named: "Shelf"))
    let target = try ModelSchema(
      name: stored.name, fields: stored.fields + [FieldSchema("extra", .string, isOptional: true)],
      key: stored.key, indexes: stored.indexes)
    let change = try SchemaChange(
      from: stored, to: target, sources: stored.fields.indices.map { .field($0) } + [.fill(.null)])
    var updates = repository.updates(of: Shelf.First.self).makeAsyncIterator()
    _ = try await updates.required()
    try expectThrows(SuiteError()) {
      try storage.transaction { transaction in
        try transaction.evolve(change)
        throw SuiteError()
      }
    }
    try repository.save(Shelf.First.sample(9))
    let update = try await updates.required()
    try expect(update.changes, equals: .keys(ChangedKeys(inserted: [RecordKey([.integer(9)])])))
    try expect(update.results.map(\.id), equals: [1, 2, 3, 9])
  }
}

/// A version that computes a field and keeps its source.
private struct MeasuredShelf: Hashable {
  var id: Int
  var pages: Int32
  var half: Int32
}

extension MeasuredShelf: PersistentRecord {
  static let schema = RecordSchema<MeasuredShelf>(
    "Shelf", fields: [.field("id", \.id), .field("pages", \.pages), .field("half", \.half)], key: [\.id])

  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    (id, pages, half) = (try row.decode(at: 0), try row.decode(at: 1), try row.decode(at: 2))
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(pages, at: 1)
    row.encode(half, at: 2)
  }
}
