import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import Testing

/// Versions of one app that use one store.
///
/// The conformance suite asks the same of every context.
@Suite("Schema evolution")
struct EvolutionTests {
  private let context = MemoryContext()

  private struct First: PersistentRecord, Equatable {
    var id: Int
    var cost: Double
    var length: String
    var nick: String?

    static let schema = RecordSchema<First>(
      "Movie",
      fields: [
        .field("id", \.id), .field("cost", \.cost), .field("length", \.length), .field("nick", \.nick),
      ],
      key: [\.id])
    var primaryKey: Int { id }
    init(id: Int, cost: Double, length: String, nick: String? = nil) {
      (self.id, self.cost, self.length, self.nick) = (id, cost, length, nick)
    }
    init(from row: borrowing Row) throws {
      (id, cost) = (try row.decode(at: 0), try row.decode(at: 1))
      (length, nick) = (try row.decode(at: 2), try row.decode(at: 3))
    }
    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(cost, at: 1)
      row.encode(length, at: 2)
      row.encode(nick, at: 3)
    }
  }

  /// `cost` renamed, `rating` added with a fill, `length` and `nick` unseen.
  private struct Second: PersistentRecord, Equatable {
    var id: Int
    var budget: Double
    var rating: String

    static let schema = RecordSchema<Second>(
      "Movie",
      fields: [
        .field("id", \.id), .field("budget", \.budget, was: ["cost"]), .field("rating", \.rating, fill: "PG"),
      ], key: [\.id])
    var primaryKey: Int { id }
    init(id: Int, budget: Double, rating: String) {
      (self.id, self.budget, self.rating) = (id, budget, rating)
    }
    init(from row: borrowing Row) throws {
      (id, budget, rating) = (try row.decode(at: 0), try row.decode(at: 1), try row.decode(at: 2))
    }
    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(budget, at: 1)
      row.encode(rating, at: 2)
    }
  }

  /// The model renamed, `length` computed into `minutes`, `nick` removed.
  private struct Third: PersistentRecord, Equatable {
    var id: Int
    var budget: Double
    var rating: String
    var minutes: Int

    static let schema = RecordSchema<Third>(
      "Film", was: ["Movie"],
      fields: [
        .field("id", \.id), .field("budget", \.budget, was: ["cost"]), .field("rating", \.rating, fill: "PG"),
        .field("minutes", \.minutes),
      ], key: [\.id], indexes: [RecordIndex(\.minutes)])
    var primaryKey: Int { id }
    init(from row: borrowing Row) throws {
      (id, budget, rating) = (try row.decode(at: 0), try row.decode(at: 1), try row.decode(at: 2))
      minutes = try row.decode(at: 3)
    }
    func encode(into row: RowBuffer) throws {
      row.encode(id, at: 0)
      row.encode(budget, at: 1)
      row.encode(rating, at: 2)
      row.encode(minutes, at: 3)
    }
  }

  private enum SecondSchema: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Second.self]
  }

  private enum ThirdSchema: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Third.self]
    static let evolution: [EvolutionRule] = [
      .compute(\Third.minutes, from: "length") { old in
        guard let minutes = Int(try old("length", as: String.self)) else { throw Unreadable() }
        return minutes
      },
      // The property gives the value its type; the rule for minutes is the first one.
      .compute(\Third.minutes, from: "nick") { old in try old("nick") },
      .remove("nick", from: "Film"),
    ]
  }

  private struct Unreadable: Error {}

  private func fill(_ length: String = "90") throws -> [First] {
    let movies = (1...5).map {
      First(id: $0, cost: Double($0), length: length, nick: $0 == 3 ? "three" : nil)
    }
    try Repository(context).save(contentsOf: movies)
    return movies
  }

  @Test("S1 S2 a version with a rename, a fill and fewer fields, beside the earlier version")
  func twoVersions() throws {
    let movies = try fill()
    let first = Repository(context)
    let second = try Repository(context, schema: SecondSchema.self)
    let found = try second.filter(Second.self, where: \.rating == "PG" && \.budget > 1.5).result()
    #expect(found.map(\.id) == [2, 3, 4, 5])
    try second.save(Second(id: 3, budget: 30, rating: "R"))
    #expect(throws: PersistenceError.self) { try second.insert(Second(id: 9, budget: 9, rating: "R")) }
    #expect(try first.find(First.self, id: 3) == First(id: 3, cost: 30, length: "90", nick: "three"))
    #expect(try first.find(First.self, id: 1) == movies[0])
    try first.save(First(id: 6, cost: 6, length: "60", nick: "six"))
    #expect(try second.find(Second.self, id: 6) == Second(id: 6, budget: 6, rating: "PG"))
    #expect(
      try second.filter(Second.self, where: \.rating == "R").sorted(by: \.budget).result().map(\.id) == [3])
    #expect(try first.filter(First.self, where: \.cost >= 6).result().map(\.id) == [3, 6])
  }

  @Test("S5 S7 computed fields, a removed field and a renamed model; the earlier versions are refused")
  func chain() throws {
    _ = try fill()
    _ = try Repository(context, schema: SecondSchema.self)
    let third = try Repository(context, schema: ThirdSchema.self)
    #expect(try third.filter(Third.self, where: \.minutes == 90).result().map(\.budget) == [1, 2, 3, 4, 5])
    let catalog = try context.catalog()
    _ = try Repository(context, schema: ThirdSchema.self)
    #expect(try context.catalog() == catalog, "S6")
    let error = #expect(throws: PersistenceError.self) { try Repository(context).count(First.self) }
    #expect(error?.code == .newerStore)
    #expect(error?.differences.map(\.kind).contains(.removed) == true)
    #expect(try Repository(context).filter(Second.self, where: \.rating == "PG").result().count == 5)
  }

  @Test("S5 an error in a rule leaves the store as it was")
  func failure() throws {
    let movies = try fill("ninety")
    #expect(throws: Unreadable.self) { try Repository(context, schema: ThirdSchema.self) }
    #expect(try Array(Repository(context).filter(First.self).result()) == movies)
    #expect(try context.catalog() == [First.schema.model])
  }

  @Test("a declaration that says too little gets each difference, with the word that settles it")
  func differences() throws {
    enum Bare: StoreSchema { static let models: [any PersistentRecord.Type] = [Third.self] }
    _ = try fill()
    let error = #expect(throws: PersistenceError.self) { try Repository(context, schema: Bare.self) }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.differences.map { $0.field?.name } == ["minutes"])
    #expect(error?.message.contains(".compute") == true, "\(error?.message ?? "")")
  }

  @Test("S1 threads that meet another schema at the same time all use the mapping")
  func threads() async throws {
    for _ in 0..<50 {
      let context = MemoryContext()
      try Repository(context).save(First(id: 1, cost: 1, length: "1"))
      _ = try Repository(context, schema: SecondSchema.self)
      let older = Repository(context)
      try await withThrowingTaskGroup(of: Int?.self) { group in
        for _ in 0..<8 { group.addTask { try older.find(First.self, id: 1)?.id } }
        for try await id in group { #expect(id == 1) }
      }
    }
  }

  @Test("a step that makes no model is refused")
  func emptyStep() throws {
    enum Endless: StoreSchema {
      static let models: [any PersistentRecord.Type] = [First.self]
      static let evolution: [EvolutionRule] = [.step { _, _ in }]
    }
    let error = #expect(throws: PersistenceError.self) { try Repository(context, schema: Endless.self) }
    #expect(error?.code == .invalidSchema)
  }

  @Test("a rule that removes a field of a property is refused")
  func contradiction() throws {
    enum Contradicting: StoreSchema {
      static let models: [any PersistentRecord.Type] = [Second.self]
      static let evolution: [EvolutionRule] = [.remove("nick", was: "cost", from: "Movie")]
    }
    let movies = try fill()
    let error = #expect(throws: PersistenceError.self) {
      try Repository(context, schema: Contradicting.self)
    }
    #expect(error?.code == .invalidSchema && error?.field == "cost")
    #expect(try Array(Repository(context).filter(First.self).result()) == movies)
  }

  @Test("S1 without a schema, the first write makes what costs only the catalog, and reads never write")
  func firstWrite() throws {
    let empty = MemoryContext()
    try Repository(empty).save(First(id: 1, cost: 1, length: "1"))
    _ = try Repository(empty).deleteAll(First.self)
    let second = Repository(empty)
    #expect(try second.count(Second.self) == 0)
    #expect(try empty.catalog() == [First.schema.model])
  }
}
