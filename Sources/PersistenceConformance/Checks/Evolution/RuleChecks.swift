import PersistenceCore
import PersistenceDriverSupport

/// S5, S7, S8: what a schema says of the past.
enum RuleChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      ".compute gives earlier records their values, and removes a source that nobody declares", [.s7, .s1],
      needs: [.writable, .droppingModels], computes),
    ConformanceCheck(
      "an error while a store changes leaves every model as it was", [.s5, .w3],
      needs: [.writable, .droppingModels], failures),
    ConformanceCheck(
      ".compute is refused if the store lacks a source", [.s7], needs: [.writable, .droppingModels], noSource),
    ConformanceCheck(
      "a removed field keeps its values, hidden, and no version reads it or takes its name", [.s8, .s3],
      needs: [.writable, .droppingModels], removedField),
    ConformanceCheck(
      "a removed model keeps its records, hidden", [.s8], needs: [.writable, .droppingModels], removedModel),
    ConformanceCheck(
      "a renamed model keeps its records and indexes", [.s1], needs: [.writable, .droppingModels],
      renamedModel),
    ConformanceCheck(
      "a step that makes a model runs once, in the transaction of all changes", [.s5, .s6],
      needs: [.writable, .droppingModels], split),
    ConformanceCheck(
      "a declaration that says too little gets every difference, and the store is as before", [.e4, .s7],
      differences),
  ]

  enum Moved: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Rack.self]
  }

  enum Shelfless: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Account.self]
    static let evolution: [EvolutionRule] = [.remove(model: "Shelf")]
  }

  enum Labeled: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Labeled.self]
    static let evolution: [EvolutionRule] = [
      .compute(\Shelf.Labeled.label, \Shelf.Labeled.half, from: "title", "pages") { old in
        let (title, pages): (String, Int32) = (try old("title"), try old("pages"))
        return ("\(title): \(pages)", pages > 3000 ? Double(pages) / 2 : nil)
      }
    ]
  }

  /// Another model changes first; the error comes for the last record.
  private enum Failing: StoreSchema {
    static let models: [any PersistentRecord.Type] = [ShelfOwner.self, Account.self, Shelf.Labeled.self]
    static let evolution: [EvolutionRule] = [
      .compute(\Shelf.Labeled.label, \Shelf.Labeled.half, from: "title", "pages") { old in
        guard try old("pages", as: Int32.self) < 9000 else { throw SuiteError() }
        return (try old("title"), nil)
      },
      .remove("owner", from: "Shelf"),
    ]
  }

  private enum FailingStep: StoreSchema {
    static let models: [any PersistentRecord.Type] = [ShelfOwner.self, Shelf.Ownerless.self]
    static let evolution: [EvolutionRule] = [
      .step(making: ShelfOwner.self) { old, new in
        try new.save(ShelfOwner(name: "someone", shelves: try old.count(Shelf.First.self)))
        throw SuiteError()
      },
      .remove("owner", from: "Shelf"),
    ]
  }

  private enum Unnamed: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Labeled.self]
    static let evolution: [EvolutionRule] = [
      .compute(\Shelf.Labeled.label, \Shelf.Labeled.half, from: "title") { old in
        (try old("title"), try Double(old("pages", as: Int32.self)))
      }
    ]
  }

  private enum Sourceless: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Labeled.self]
    static let evolution: [EvolutionRule] = [
      .compute(\Shelf.Labeled.label, \Shelf.Labeled.half, from: "heading") { old in (try old("heading"), nil)
      }
    ]
  }

  enum Split: StoreSchema {
    static let models: [any PersistentRecord.Type] = [ShelfOwner.self, Shelf.Ownerless.self]
    static let evolution: [EvolutionRule] = [
      .step(making: ShelfOwner.self) { old, new in
        for shelf in try old.filter(Shelf.First.self, where: \.owner != nil).result() {
          guard let name = shelf.owner else { continue }
          let known = try new.find(ShelfOwner.self, id: name)
          try new.save(ShelfOwner(name: name, shelves: (known?.shelves ?? 0) + 1))
        }
      },
      .remove("owner", from: "Shelf"),
    ]
  }

  private enum Unlike: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Unlike.self]
  }

  private enum Rekeyed: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Account.self, Shelf.Rekeyed.self]
  }

  static func filled(_ context: ContextUnderTest, count: Int = 10) throws -> (StoreUnderTest, Repository) {
    let store = try context.makeStore()
    let repository = try store.open()
    try repository.save(contentsOf: Shelf.First.samples(count))
    return (store, repository)
  }

  // MARK: - Computed fields

  @Sendable private static func computes(_ context: ContextUnderTest) throws {
    var (store, repository) = try filled(context, count: 300)
    try repository.evolved(Labeled.self)
    var expected = Shelf.First.samples(300).map { old in
      Shelf.Labeled(
        id: old.id, pages: old.pages, label: "\(old.title): \(old.pages)",
        half: old.pages > 3000 ? Double(old.pages) / 2 : nil)
    }
    try expect(Array(repository.fetch(Shelf.Labeled.self)), equals: expected)
    try repository.write(Shelf.Labeled.self, id: 7) { $0.label = "changed" }
    expected[6].label = "changed"
    for isReopened in [false, true] {
      if isReopened, try !store.reopen(&repository) { break }
      try repository.evolved(Labeled.self)
      try expect(Array(repository.fetch(Shelf.Labeled.self)), equals: expected, "opened again")
      try expect(repository.filter(Shelf.Labeled.self, where: \.label == "changed").ids(), equals: [7])
      try expect(repository.filter(Shelf.Labeled.self, where: \.half == nil).ids(), equals: [1, 2, 3])
      let error = try expectError(.newerStore, "the first version") { try repository.fetch(Shelf.First.self) }
      try expect(error.differences.map(\.kind), equals: [.removed], "\(error)")
      try expect(error.differences.first?.field?.name, equals: "title")
    }
  }

  @Sendable private static func failures(_ context: ContextUnderTest) throws {
    let (_, repository) = try filled(context)
    try repository.save(Account(1, balance: 1))
    let before = try StoredContent(repository.storage)
    func check(_ place: String) throws {
      try expect(StoredContent(repository.storage), equals: before, place)
      try expect(Array(repository.fetch(Shelf.First.self)), equals: Shelf.First.samples(10), place)
    }
    try expectThrows(SuiteError(), ".compute") { try repository.evolved(Failing.self) }
    try check("after an error of .compute")
    try expectThrows(SuiteError(), ".step") { try repository.evolved(FailingStep.self) }
    try check("after an error of a step")
    try expectError(.unknownField, "a value that is not a source") { try repository.evolved(Unnamed.self) }
    try check("after an error of a source")
    try repository.save(Shelf.First.sample(11))
    try repository.evolved(Labeled.self)
    try expect(repository.count(Shelf.Labeled.self), equals: 11)
  }

  @Sendable private static func noSource(_ context: ContextUnderTest) throws {
    let (_, repository) = try filled(context)
    let before = try StoredContent(repository.storage)
    let error = try expectError(.schemaMismatch) { try repository.evolved(Sourceless.self) }
    try expect(error.differences.contains { $0.kind == .source("heading") }, "\(error)")
    try expect(error.message.contains("heading"), "\(error)")
    try expect(StoredContent(repository.storage), equals: before)
  }

  // MARK: - Removed and renamed

  @Sendable private static func removedField(_ context: ContextUnderTest) throws {
    var (store, repository) = try filled(context)
    try repository.evolved(LeftBehindChecks.Ownerless.self)
    try repository.save(Shelf.Ownerless(id: 2, title: "two", pages: 2, price: 2))
    try repository.write(Shelf.Ownerless.self, id: 4) { $0.title = "four" }
    try repository.insert(Shelf.Ownerless(id: 11, title: "t", pages: 1, price: 1))
    for isReopened in [false, true] {
      if isReopened, try !store.reopen(&repository) { break }
      try repository.evolved(LeftBehindChecks.Ownerless.self)
      let titles = try repository.fetch(Shelf.Ownerless.self).map(\.title)
      try expect(titles, equals: ["t1", "two", "t3", "four", "t5", "t6", "t0", "t1", "t2", "t3", "t"])
      let content = try StoredContent(repository.storage)
      let schema = try require(content.schema("Shelf"))
      try expect(schema.position(of: "owner") == nil, "\(schema)")
      let hidden = try require(schema.fields.firstIndex { $0.name.hasPrefix(ReservedModel.prefix) })
      let owners = Shelf.First.samples(10).map { $0.owner.map { .text($0) } ?? PersistentValue.null }
      try expect(content.rows(of: "Shelf").map { $0[hidden] }, equals: owners + [.null], "hidden values")
      let error = try expectError(.newerStore, "the first version") { try repository.count(Shelf.First.self) }
      try expect(error.differences.map(\.kind), equals: [.removed], "\(error)")
      try expectError(.newerStore, "the first version") { try repository.save(Shelf.First.sample(1)) }
    }
  }

  @Sendable private static func removedModel(_ context: ContextUnderTest) throws {
    var (store, repository) = try filled(context)
    let rows = try StoredContent(repository.storage).rows(of: "Shelf")
    try repository.evolved(Shelfless.self)
    for isReopened in [false, true] {
      if isReopened, try !store.reopen(&repository) { break }
      try repository.evolved(Shelfless.self)
      try expect(repository.storage.modelNames(), equals: ["Account"])
      let content = try StoredContent(repository.storage)
      let fields = try Shelf.First.schema.model.fields
      let hidden = try require(content.catalog.first { $0.fields == fields })
      try expect(hidden.name.hasPrefix(ReservedModel.prefix), "\(hidden)")
      try expect(content.rows(of: hidden.name), equals: rows, "hidden records")
    }
  }

  @Sendable private static func renamedModel(_ context: ContextUnderTest) throws {
    var (store, repository) = try filled(context, count: 30)
    try repository.evolved(Moved.self)
    try expect(repository.storage.modelNames(), equals: ["Rack"])
    try repository.save(Shelf.Rack.sample(31))
    for isReopened in [false, true] {
      if isReopened, try !store.reopen(&repository) { break }
      try repository.evolved(Moved.self)
      try expect(Array(repository.fetch(Shelf.Rack.self)), equals: Shelf.Rack.samples(31))
      let sorted = Shelf.Rack.samples(31).sorted { ($0.title, $0.id) < ($1.title, $1.id) }
      try expect(Array(repository.filter(Shelf.Rack.self).sorted(by: \.title).result()), equals: sorted)
      try expect(
        repository.filter(Shelf.Rack.self, where: \.title == "t3").ids(), equals: [3, 10, 17, 24, 31])
      try expect(repository.storage.modelNames(), equals: ["Rack"])
    }
  }

  @Sendable private static func split(_ context: ContextUnderTest) throws {
    var (store, repository) = try filled(context)
    try repository.save(Shelf.First(id: 11, title: "t", pages: 1, price: 1, owner: "o5"))
    try repository.evolved(Split.self)
    let owners = [1, 10, 2, 4, 5, 7, 8].map { ShelfOwner(name: "o\($0)", shelves: $0 == 5 ? 2 : 1) }
    try expect(Array(repository.fetch(ShelfOwner.self)), equals: owners)
    try expect(repository.fetch(Shelf.Ownerless.self).map(\.id), equals: Array(1...11))
    try repository.delete(owners[0])
    try store.reopen(&repository)
    try repository.evolved(Split.self)
    try expect(Array(repository.fetch(ShelfOwner.self)), equals: Array(owners.dropFirst()), "opened again")
    let empty = try context.makeStore().open()
    try empty.evolved(Split.self)
    try expect(empty.count(ShelfOwner.self) == 0 && empty.count(Shelf.Ownerless.self) == 0, "a new store")
  }

  // MARK: - Too little said

  @Sendable private static func differences(_ context: ContextUnderTest) throws {
    let (_, repository) = try filled(context)
    let before = try StoredContent(repository.storage)
    let schema = try Shelf.Unlike.schema.model
    let stored = try Shelf.First.schema.model
    let expected = [
      SchemaDifference(schema, schema.fields[1], .kind(stored.fields[1])),
      SchemaDifference(schema, schema.fields[2], .kind(stored.fields[2])),
      SchemaDifference(schema, schema.fields[3], .optional),
      SchemaDifference(schema, schema.fields[4], .missing),
    ]
    let errors = try expectErrors(
      .schemaMismatch, calls: { try repository.evolved(Unlike.self) },
      { try repository.fetch(Shelf.Unlike.self) }, { try repository.find(Shelf.Unlike.self, id: 1) },
      { try repository.save(Shelf.Unlike(id: 1, title: 1, pages: 1, owner: "", place: "")) })
    for error in errors {
      try expect(error.differences, equals: expected)
      for difference in error.differences { try expect(error.message.contains("\(difference)"), "\(error)") }
    }
    let error = try expectError(.schemaMismatch, "a key") { try repository.evolved(Rekeyed.self) }
    try expect(error.differences.map(\.kind), equals: [.key(["id"])])
    try expect(StoredContent(repository.storage), equals: before)
  }
}
