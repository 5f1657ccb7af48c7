import Foundation
import PersistenceDriver
import PersistenceSQLite
import TestSupport
import Testing

@Suite struct EvolutionTests {
  let scratch: Scratch
  let context: SQLiteContext
  let stored: ModelSchema

  init() throws {
    scratch = try Scratch()
    context = try scratch.open()
    stored = try Self.movie()
    try context.fill(stored, Self.rows)
  }

  static let fields = [
    FieldSchema("id", .int64), FieldSchema("title", .string), FieldSchema("year", .int16, isOptional: true),
    FieldSchema("rating", .float), FieldSchema("link", .url),
  ]

  static let rows: [[PersistentValue]] = [
    [.integer(1), .text("a"), .integer(1990), .double(1.5), .text("u:1")],
    [.integer(2), .text("b"), .null, .double(2.5), .text("u:2")],
    [.integer(3), .text("c"), .integer(2000), .double(3.5), .text("u:3")],
  ]

  static func movie(
    _ name: String = "Movie", _ fields: [FieldSchema] = fields,
    indexes: [IndexSchema] = [IndexSchema(["title"]), IndexSchema(["year"], isUnique: true)]
  ) throws -> ModelSchema {
    try ModelSchema(name: name, fields: fields, key: ["id"], indexes: indexes)
  }

  /// The change that adds fields.
  static func adding(_ fields: [(FieldSchema, PersistentValue)], to stored: ModelSchema) throws
    -> SchemaChange
  {
    let kept = stored.fields.indices.map { SchemaChange.Source.field($0) }
    return try SchemaChange(
      from: stored,
      to: ModelSchema(
        name: stored.name, fields: stored.fields + fields.map(\.0), key: stored.key, indexes: stored.indexes),
      sources: kept + fields.map { .fill($0.1) })
  }

  /// The change that keeps all fields, under other definitions.
  static func keeping(_ stored: ModelSchema, as target: ModelSchema) throws -> SchemaChange {
    try SchemaChange(from: stored, to: target, sources: stored.fields.indices.map { .field($0) })
  }

  private func evolve(_ change: SchemaChange) throws { try context.transaction { try $0.evolve(change) } }

  private func table(_ name: String = "Movie") throws -> [[PersistentValue]] {
    try context.rows("SELECT rootpage FROM sqlite_schema WHERE name = ?1", [.text(name)])
  }

  private func layouts() throws -> [String] {
    try context.rows("SELECT layout FROM persistence_catalog").compactMap {
      if case .text(let text) = $0[0] { text } else { nil }
    }
  }

  /// A change of names, order, kinds, optionality and indexes, with new fields.
  private func film() throws -> SchemaChange {
    let target = try Self.movie(
      "Film",
      [
        FieldSchema("rating", .double), FieldSchema("name", .string), FieldSchema("id", .int64),
        FieldSchema("year", .int64, isOptional: true), FieldSchema("link", .string, isOptional: true),
        FieldSchema("stars", .int64), FieldSchema("note", .string, isOptional: true),
        FieldSchema("added", .date),
      ], indexes: [IndexSchema(["name"])])
    return try SchemaChange(
      from: stored, to: target,
      sources: [
        .field(3), .field(1), .field(0), .field(2), .field(4), .fill(.integer(7)), .fill(.null),
        .fill(.date(0.5)),
      ])
  }

  @Test(
    "renames, new fields, wider kinds, optional fields, dropped indexes and another order cost the catalog")
  func catalogOnly() throws {
    let change = try film()
    let film = change.target
    let before = try [table(), table("Movie_title_index")]
    #expect(try context.cost(of: change) == .catalog)
    try evolve(change)
    #expect(try [table(), table("Movie_title_index")] == before)
    #expect(try table("Movie_year_index").isEmpty)
    let other = try scratch.open()
    for context in [context, other] {
      #expect(try context.catalog() == [film])
      #expect(
        try context.values(of: .integer(1), in: film) == [
          .double(1.5), .text("a"), .integer(1), .integer(1990), .text("u:1"), .integer(7), .null, .date(0.5),
        ])
      let filled = PredicateNode.comparison(field: "stars", .equal, .integer(7))
      #expect(try context.count(FetchRequest(film, where: filled)) == 3)
      let ordered = try FetchRequest(
        film, where: filled, order: [FieldOrder("name")], after: PageAnchor([.text("a"), .integer(1)]))
      #expect(try context.values(ordered).map { $0[2] } == [.integer(2), .integer(3)])
      #expect(try context.plan(for: FetchRequest(film, order: [FieldOrder("name")])).ordering == .byAccess)
      let sums = try AggregateRequest(
        FetchRequest(film), aggregates: [.sum(of: "stars"), .minimum(of: "added")])
      #expect(try context.aggregate(sums).map(\.values) == [[.integer(21), .date(0.5)]])
    }
    try context.transaction { transaction in
      let first = try FetchRequest(film, where: .comparison(field: "id", .less, .integer(3)))
      let set = [FieldAssignment("stars", .integer(8)), FieldAssignment("link", .null)]
      #expect(try transaction.update(UpdateRequest(first, set: set)) == 2)
      try transaction.insert(
        [.double(0.1), .text("d"), .integer(4), .integer(1 << 40), .null, .integer(9), .text("n"), .date(1)],
        in: film)
    }
    #expect(try other.values(FetchRequest(film)).map { $0[5] } == [8, 8, 7, 9].map { .integer($0) })
    #expect(try layouts().allSatisfy { $0.contains("\"format\":2") })
  }

  @Test("a record keeps the fill of its time, and a saved record stores its values")
  func successiveFills() throws {
    let first = try Self.adding([(FieldSchema("stars", .int64), .integer(1))], to: stored)
    try evolve(first)
    try context.transaction { try $0.save(Self.rows[0] + [.integer(5)], in: first.target) }
    let second = try Self.adding([(FieldSchema("label", .string), .text("it's; new"))], to: first.target)
    try evolve(second)
    try context.close()
    let reopened = try scratch.open()
    let values = try reopened.values(FetchRequest(second.target))
    #expect(values.map { $0[5] } == [.integer(5), .integer(1), .integer(1)])
    #expect(values.map { $0[6] } == Array(repeating: .text("it's; new"), count: 3))
    #expect(code { _ = try reopened.count(FetchRequest(first.target)) } == .schemaMismatch)
  }

  static let fills: [(FieldKind, PersistentValue, EvolutionCost)] = [
    (.bool, .bool(true), .catalog), (.int64, .integer(.min), .catalog),
    (.double, .double(0.1 + 0.2), .catalog),
    (.double, .double(-.infinity), .catalog), (.float, .double(.nan), .catalog),
    (.double, .double(.leastNonzeroMagnitude), .catalog), (.date, .date(.infinity), .catalog),
    (.date, .date(700_000_000.123456), .catalog), (.string, .text(""), .catalog),
    (.string, .text("é'\"\n?1 😀"), .catalog), (.string, .text("a\u{0}b"), .rewrite),
    (.data, .bytes([0, 255]), .catalog), (.data, .bytes([]), .catalog),
    (.document, .document("{}"), .catalog),
    (.uuid, .uuid(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2))), .catalog),
    (.decimal, .decimal(Decimal(string: "12345678901234567890.5") ?? 0), .catalog),
    (.url, .text("https://example.org"), .catalog),
  ]

  @Test("a fill of any kind is exact, and only text with U+0000 costs a rewrite", arguments: fills.indices)
  func fill(_ number: Int) throws {
    let (kind, value, cost) = Self.fills[number]
    let change = try Self.adding([(FieldSchema("new", kind), value)], to: stored)
    #expect(try context.cost(of: change) == cost)
    try evolve(change)
    let found = try context.values(FetchRequest(change.target))
    #expect(found.map { $0[5] } == [value, value, value])
    #expect(found.map { Array($0.prefix(5)) } == Self.rows)
  }

  @Test("a new index is built from records and fills, and the others stay")
  func indexes() throws {
    let added = try Self.adding([(FieldSchema("stars", .int64), .integer(7))], to: stored)
    let target = try Self.movie(
      "Movie", added.target.fields,
      indexes: stored.indexes + [IndexSchema(["stars", "title"], isUnique: true)])
    let change = try SchemaChange(from: stored, to: target, sources: added.sources)
    let before = try [table(), table("Movie_title_index"), table("Movie_year_index")]
    #expect(try context.cost(of: change) == .indexes)
    try evolve(change)
    #expect(try [table(), table("Movie_title_index"), table("Movie_year_index")] == before)
    let filled = try FetchRequest(
      target,
      where: .all([
        .comparison(field: "stars", .equal, .integer(7)), .comparison(field: "title", .equal, .text("b")),
      ]))
    #expect(try context.plan(for: filled).access == .index(["stars", "title"]))
    #expect(try context.count(filled) == 1)
    #expect(
      code {
        try context.transaction {
          try $0.insert(
            [.integer(4), .text("a"), .null, .double(0), .text(""), .integer(7)], in: target)
        }
      } == .uniqueViolation)
  }

  @Test("a violated new unique index leaves everything as it was")
  func violation() throws {
    let added = try Self.adding([(FieldSchema("stars", .int64), .integer(7))], to: stored)
    let target = try Self.movie(
      "Movie", added.target.fields, indexes: [IndexSchema(["stars"], isUnique: true)])
    let change = try SchemaChange(from: stored, to: target, sources: added.sources)
    let before = try context.rows("SELECT name, sql FROM sqlite_schema")
    #expect(code { try evolve(change) } == .uniqueViolation)
    try context.transaction { transaction in
      #expect(code { try transaction.evolve(change) } == .uniqueViolation)
      let records = try transaction.values(FetchRequest(stored))
      #expect(records == Self.rows)
    }
    #expect(try context.rows("SELECT name, sql FROM sqlite_schema") == before)
    #expect(try context.values(FetchRequest(stored)) == Self.rows)
    #expect(try layouts().allSatisfy { $0.contains("\"format\":1") })
  }

  private struct Abort: Error {}

  /// Evolves in a nested transaction that rolls back, and checks that it restores the records.
  private func evolveAndAbort(_ change: SchemaChange, _ transaction: any StorageTransaction) throws {
    do {
      try transaction.nested {
        try transaction.evolve(change)
        #expect(try transaction.count(FetchRequest(change.target)) == 3)
        throw Abort()
      }
    } catch is Abort {}
    #expect(try transaction.values(FetchRequest(stored)) == Self.rows)
  }

  @Test("a nested and an outer rollback restore the schema")
  func rollback() throws {
    let film = try film()
    for change in [film, try Self.erasing(stored)] {
      #expect(throws: Abort.self) {
        try context.transaction { transaction in
          try evolveAndAbort(change, transaction)
          try transaction.evolve(change)
          #expect(try transaction.catalog() == [change.target])
          throw Abort()
        }
      }
      #expect(try context.catalog() == [stored])
      #expect(try context.values(FetchRequest(stored)) == Self.rows)
      try context.transaction { try $0.save(Self.rows[0], in: stored) }
    }
    try evolve(film)
    #expect(try context.catalog() == [film.target])
  }

  /// The change that erases the link.
  static func erasing(_ stored: ModelSchema) throws -> SchemaChange {
    try SchemaChange(
      from: stored, to: movie("Movie", Array(fields.dropLast())), sources: (0..<4).map { .field($0) })
  }

  @Test("other contexts notice a change at their next call, and a snapshot keeps its schema")
  func otherContexts() throws {
    let other = try scratch.open()
    #expect(try other.values(of: .integer(1), in: stored) == Self.rows[0])
    let snapshot = try other.snapshot()
    var fields = Self.fields
    fields[1].name = "name"
    let target = try Self.movie("Movie", fields, indexes: [IndexSchema(["name"]), stored.indexes[1]])
    try evolve(Self.keeping(stored, as: target))
    #expect(code { _ = try other.values(of: .integer(1), in: stored) } == .schemaMismatch)
    #expect(code { _ = try context.count(FetchRequest(stored)) } == .schemaMismatch)
    #expect(try other.values(of: .integer(1), in: target) == Self.rows[0])
    #expect(try snapshot.values(FetchRequest(stored)) == Self.rows)
    #expect(try snapshot.catalog() == [stored])
    #expect(
      code { try other.transaction { try $0.evolve(Self.keeping(stored, as: target)) } } == .schemaMismatch)
  }
}
