import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

/// The first version of a film.
private struct First: PersistentRecord, Equatable {
  var id: Int
  var cost: Double
  var length: String
  var nick: String?

  static let schema = RecordSchema<First>(
    "Movie",
    fields: [.field("id", \.id), .field("cost", \.cost), .field("length", \.length), .field("nick", \.nick)],
    key: [\.id])
  var primaryKey: Int { id }

  init(_ id: Int, cost: Double, length: String, nick: String? = nil) {
    (self.id, self.cost, self.length, self.nick) = (id, cost, length, nick)
  }

  init(from row: borrowing Row) throws { (id, cost, length, nick) = try row.decodeFields() }

  func encode(into row: RowBuffer) throws { row.encodeFields(id, cost, length, nick) }
}

/// `cost` renamed and optional, `rating` added with a fill, `length` and `nick` no longer declared.
private struct Second: PersistentRecord, Equatable {
  var id: Int
  var budget: Double?
  var rating: String

  static let schema = RecordSchema<Second>(
    "Movie",
    fields: [
      .field("id", \.id), .field("budget", \.budget, was: ["cost"]), .field("rating", \.rating, fill: "PG"),
    ], key: [\.id])
  var primaryKey: Int { id }

  init(_ id: Int, budget: Double?, rating: String) {
    (self.id, self.budget, self.rating) = (id, budget, rating)
  }

  init(from row: borrowing Row) throws { (id, budget, rating) = try row.decodeFields() }

  func encode(into row: RowBuffer) throws { row.encodeFields(id, budget, rating) }
}

/// The model renamed, `length` computed into `minutes`.
private struct Third: PersistentRecord, Equatable {
  var id: Int
  var budget: Double
  var minutes: Int

  static let schema = RecordSchema<Third>(
    "Film", was: ["Movie"],
    fields: [.field("id", \.id), .field("budget", \.budget, was: ["cost"]), .field("minutes", \.minutes)],
    key: [\.id])
  var primaryKey: Int { id }

  init(_ id: Int, budget: Double, minutes: Int) {
    (self.id, self.budget, self.minutes) = (id, budget, minutes)
  }

  init(from row: borrowing Row) throws { (id, budget, minutes) = try row.decodeFields() }

  func encode(into row: RowBuffer) throws { row.encodeFields(id, budget, minutes) }
}

/// A required field that says nothing of records from before.
private struct Demanding: PersistentRecord, Equatable {
  var id: Int
  var cost: Double
  var owner: String

  static let schema = RecordSchema<Demanding>(
    "Movie", fields: [.field("id", \.id), .field("cost", \.cost), .field("owner", \.owner)], key: [\.id])
  var primaryKey: Int { id }

  init(from row: borrowing Row) throws { (id, cost, owner) = try row.decodeFields() }

  func encode(into row: RowBuffer) throws { row.encodeFields(id, cost, owner) }
}

private enum SecondSchema: StoreSchema {
  static let models: [any PersistentRecord.Type] = [Second.self]
  static let evolution: [EvolutionRule] = [.remove("nick", from: "Movie")]
}

private enum ThirdSchema: StoreSchema {
  static let models: [any PersistentRecord.Type] = [Third.self]
  static let evolution: [EvolutionRule] = [
    .compute(\Third.minutes, from: "length") { old in Int(try old("length", as: String.self)) ?? 0 }
  ]
}

@Suite("Outbox entries and layers of several versions of an app")
struct EntryVersionTests {
  /// The contexts that an app ships.
  private static let contexts = ContextUnderTest.ours.filter { (try? $0.capabilities().isDurable) == true }

  private func source<Object: PersistentRecord>(
    of type: Object.Type, in repository: any PersistentRepository, remote: ScriptedDataSource<Object>,
    _ clock: TestClock
  ) throws -> LayeredDataSource<Object> {
    var options = LayerOptions<Object>()
    options.clock = clock
    options.now = { clock.date }
    options.writes = .localFirst
    options.remote = LayerLimits()
    options.outbox = RetryPolicy(firstDelay: .seconds(1 << 30), longestDelay: .seconds(1 << 30), jitter: 0)
    return try LayeredDataSource(local: repository.dataSource(of: type), remote: remote, options: options)
  }

  /// Writes entries of the first version, offline.
  private func writeFirst(in repository: Repository, _ clock: TestClock) async throws {
    let remote = try ScriptedDataSource<First>(clock: clock)
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    let old = try source(of: First.self, in: repository, remote: remote, clock)
    try await old.insert(First(1, cost: 1.5, length: "90", nick: "one"))
    try await old.update(
      First(1, cost: 2.5, length: "91"), replacing: First(1, cost: 1.5, length: "90", nick: "one"))
    try await old.insert(First(2, cost: 3, length: "x"))
    try await old.delete(First(2, cost: 3, length: "x"))
    // The sender has failed, and sleeps until its data source is released.
    await clock.sleepers(1)
    #expect(try await old.outbox?.count() == 4)
  }

  @Test(
    "S1 entries of an earlier version are sent with renamed, filled and removed fields", arguments: contexts)
  func mapped(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    let clock = TestClock()
    try await writeFirst(in: repository, clock)
    let evolved = try Repository(repository.context, schema: SecondSchema.self)
    let remote = try ScriptedDataSource<Second>(clock: clock)
    let new = try source(of: Second.self, in: evolved, remote: remote, clock)
    let outbox = try #require(new.outbox)
    try await outbox.send()
    #expect(try await outbox.setAside().isEmpty)
    #expect(try await remote.execute(FetchOptions<Second>()) == [Second(1, budget: 2.5, rating: "PG")])
    // The first one is sent alone.
    #expect(remote.calls.count { $0.operation == .apply } == 2)
    try repository.close()
  }

  @Test("S1, S7 entries follow a renamed model and computed fields", arguments: contexts)
  func computed(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    let clock = TestClock()
    try await writeFirst(in: repository, clock)
    let evolved = try Repository(repository.context, schema: ThirdSchema.self)
    let remote = try ScriptedDataSource<Third>(clock: clock)
    let new = try source(of: Third.self, in: evolved, remote: remote, clock)
    let outbox = try #require(new.outbox)
    try await outbox.send()
    #expect(try await outbox.setAside().isEmpty)
    #expect(try await remote.execute(FetchOptions<Third>()) == [Third(1, budget: 2.5, minutes: 91)])
    try repository.close()
  }

  @Test("an entry that the declaration cannot read is set aside with the reason, and the others go on")
  func refused() async throws {
    let repository = Repository(MemoryContext())
    let clock = TestClock()
    try await writeFirst(in: repository, clock)
    // The objects are gone, so that only the entries need the earlier schema.
    try repository.context.asStorageContext?.transaction { try $0.drop(First.schema.model) }
    let remote = try ScriptedDataSource<Demanding>(clock: clock)
    let new = try source(of: Demanding.self, in: repository, remote: remote, clock)
    let outbox = try #require(new.outbox)
    try await outbox.send()
    let aside = try await outbox.setAside()
    #expect(aside.count == 4 && aside.allSatisfy { $0.error?.code == .schemaMismatch && $0.changes == nil })
    #expect(aside.first?.error?.message.contains("owner") == true)
    #expect(try await outbox.count() == 0)
    for entry in aside { try await outbox.discard(entry) }
    #expect(try await outbox.setAside().isEmpty)
  }

  @Test("an earlier version sends the entries of a later one, under the earlier names")
  func earlier() async throws {
    let repository = Repository(MemoryContext())
    try repository.insert(Before(9, cost: 9))
    let evolved = try Repository(repository.context, schema: AfterSchema.self)
    let clock = TestClock()
    do {
      let remote = try ScriptedDataSource<After>(clock: clock)
      remote.answerOtherwise(.failure(LayerTestBed.gone))
      let new = try source(of: After.self, in: evolved, remote: remote, clock)
      try await new.save(After(1, budget: 7))
      await clock.sleepers(1)
    }
    let remote = try ScriptedDataSource<Before>(clock: clock)
    let old = try source(of: Before.self, in: repository, remote: remote, clock)
    let outbox = try #require(old.outbox)
    try await outbox.send()
    #expect(try await remote.execute(FetchOptions<Before>()) == [Before(1, cost: 7)])
    #expect(try await outbox.setAside().isEmpty)
  }

  @Test("a layer forgets what it knew of objects before a field was added, and keeps it after a rename")
  func parts() async throws {
    let repository = Repository(MemoryContext())
    let clock = TestClock()
    let films = [First(1, cost: 1, length: "a"), First(2, cost: 2, length: "b")]
    do {
      let old = try source(
        of: First.self, in: repository, remote: try ScriptedDataSource(films, clock: clock), clock)
      #expect(try await old.execute(FetchOptions<First>()) == films)
      #expect(try await old.filter(where: \.cost > 1).count() == 1)
    }
    let evolved = try Repository(repository.context, schema: SecondSchema.self)
    let remote = try ScriptedDataSource<Second>(clock: clock)
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    let new = try source(of: Second.self, in: evolved, remote: remote, clock)
    let answer = try await new.answer(to: FetchOptions<Second>())
    // The layer never received a rating.
    #expect(!answer.isComplete && answer.value.map(\.rating) == ["PG", "PG"])
    #expect(try await new.find(1) == Second(1, budget: 1, rating: "PG"))
  }

  @Test("a layer keeps what it knew if a field has another name, except of queries with it")
  func renamed() async throws {
    let repository = Repository(MemoryContext())
    let clock = TestClock()
    do {
      let remote = try ScriptedDataSource([Before(1, cost: 1), Before(2, cost: 2)], clock: clock)
      let old = try source(of: Before.self, in: repository, remote: remote, clock)
      _ = try await old.filter(where: \.cost > 1).result()
      _ = try await old.filter(where: \.id > 0).result()
    }
    let evolved = try Repository(repository.context, schema: AfterSchema.self)
    let remote = try ScriptedDataSource<After>(clock: clock)
    remote.answerOtherwise(.failure(LayerTestBed.gone))
    let new = try source(of: After.self, in: evolved, remote: remote, clock)
    let known = try await new.answer(to: new.filter(where: \.id > 0).options)
    #expect(known.isComplete && known.value == [After(1, budget: 1), After(2, budget: 2)])
    #expect(try await new.answer(to: new.filter(where: \.budget > 1).options).isComplete == false)
  }
}

private struct Before: PersistentRecord, Equatable {
  var id: Int
  var cost: Double

  static let schema = RecordSchema<Before>(
    "Item", fields: [.field("id", \.id), .field("cost", \.cost)], key: [\.id])
  var primaryKey: Int { id }
  init(_ id: Int, cost: Double) { (self.id, self.cost) = (id, cost) }
  init(from row: borrowing Row) throws { (id, cost) = try row.decodeFields() }
  func encode(into row: RowBuffer) throws { row.encodeFields(id, cost) }
}

private struct After: PersistentRecord, Equatable {
  var id: Int
  var budget: Double

  static let schema = RecordSchema<After>(
    "Item", fields: [.field("id", \.id), .field("budget", \.budget, was: ["cost"])], key: [\.id])
  var primaryKey: Int { id }
  init(_ id: Int, budget: Double) { (self.id, self.budget) = (id, budget) }
  init(from row: borrowing Row) throws { (id, budget) = try row.decodeFields() }
  func encode(into row: RowBuffer) throws { row.encodeFields(id, budget) }
}

private enum AfterSchema: StoreSchema {
  static let models: [any PersistentRecord.Type] = [After.self]
}
