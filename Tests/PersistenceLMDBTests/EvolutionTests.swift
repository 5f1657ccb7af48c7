import Foundation
import PersistenceDriver
import PersistenceLMDB
import Testing

@Suite("Changes of schema in LMDB")
struct EvolutionTests {
  struct RolledBack: Error {}

  static let id = FieldSchema("id", .int64)

  static func film(
    _ fields: [FieldSchema], name: String = "Film", indexes: [IndexSchema] = []
  ) throws -> ModelSchema {
    try ModelSchema(name: name, fields: [id] + fields, key: ["id"], indexes: indexes)
  }

  /// Films with a title, a year and an optional note; indexes on title and year.
  static func first() throws -> ModelSchema {
    try film(
      [
        FieldSchema("title", .string), FieldSchema("year", .int16),
        FieldSchema("note", .string, isOptional: true),
      ],
      indexes: [IndexSchema(["title"]), IndexSchema(["year"])])
  }

  private static let films: [[PersistentValue]] = (0..<40).map { number in
    [
      .integer(number), .text("film \(number % 10)"), .integer(1980 + number),
      number % 4 == 0 ? .null : .text("note \(number)"),
    ]
  }

  private func write(_ rows: [[PersistentValue]], _ schema: ModelSchema, to context: LMDBContext) throws {
    try context.transaction { transaction in
      try transaction.define(schema)
      let row = RowBuffer(count: schema.fields.count)
      for values in rows {
        row.set(values)
        try row.withRow { try transaction.save($0, in: schema) }
      }
    }
  }

  private func rows(_ request: FetchRequest, _ reader: any StorageReader) throws -> [[PersistentValue]] {
    var rows: [[PersistentValue]] = []
    _ = try reader.fetch(request).read(from: 0, limit: .max) { rows.append(try $0.values()) }
    return rows
  }

  private func evolve(_ context: LMDBContext, _ change: SchemaChange) throws {
    try context.transaction { try $0.evolve(change) }
  }

  /// Renames the model and a field, adds two fields, widens the year and reorders.
  private static func second(_ first: ModelSchema) throws -> SchemaChange {
    let target = try film(
      [
        FieldSchema("rating", .string), FieldSchema("year", .int64, isOptional: true),
        FieldSchema("name", .string),
        FieldSchema("note", .string, isOptional: true), FieldSchema("score", .double, isOptional: true),
      ], name: "Movie", indexes: [IndexSchema(["year"])])
    return try SchemaChange(
      from: first, to: target,
      sources: [.field(0), .fill(.text("PG")), .field(2), .field(1), .field(3), .fill(.null)])
  }

  @Test("S1 S2 new fields, names, wider kinds and an order of fields cost the catalog, also after reopening")
  func catalogOnly() throws {
    let scratch = try Scratch()
    let first = try Self.first()
    var context = try scratch.open()
    try write(Self.films, first, to: context)
    let change = try Self.second(first)
    #expect(try context.cost(of: change) == .catalog)
    try evolve(context, change)
    let schema = change.target
    let expected = Self.films.map { [$0[0], .text("PG"), $0[2], $0[1], $0[3], .null] }
    for _ in 0..<2 {
      #expect(try context.catalog() == [schema])
      #expect(try rows(FetchRequest(schema), context) == expected)
      let rated = PredicateNode.comparison(field: "rating", .equal, .text("PG"))
      #expect(try context.count(FetchRequest(schema, where: rated)) == 40)
      let recent = PredicateNode.comparison(field: "year", .greater, .integer(2009))
      #expect(
        try rows(
          FetchRequest(schema, where: .conjunction(rated, recent), order: [FieldOrder("name")]), context
        ).count
          == 10)
      let groups = try context.aggregate(
        AggregateRequest(FetchRequest(schema), grouping: ["rating"], aggregates: [.maximum(of: "year")]))
      #expect(groups.map(\.key) == [[.text("PG")]] && groups.map(\.values) == [[.integer(2019)]])
      try context.close()
      context = try scratch.open()
    }
    // Rewritten records have values of their own; others keep the fill.
    try context.transaction { transaction in
      let some = PredicateNode.comparison(field: "year", .less, .integer(1990))
      _ = try transaction.update(
        UpdateRequest(FetchRequest(schema, where: some), set: [FieldAssignment("rating", .text("R"))]))
    }
    let restricted = PredicateNode.comparison(field: "rating", .equal, .text("R"))
    #expect(
      try rows(FetchRequest(schema, where: restricted), context)
        == expected.prefix(10).map { [$0[0], .text("R"), $0[2], $0[3], $0[4], .null] })
    try write(
      [[.integer(7), .text("G"), .integer(1 << 40), .text("new"), .null, .double(1)]], schema, to: context)
    let far = PredicateNode.comparison(field: "year", .greater, .integer(1 << 20))
    #expect(try context.count(FetchRequest(schema, where: far)) == 1)
    #expect(try context.count(FetchRequest(schema)) == 40)
    expectError(.schemaMismatch) { try evolve(context, change) }
  }

  @Test("S2 after two changes, records have the fill of their time, and new records their values")
  func successiveFills() throws {
    let context = try Scratch().open()
    let first = try Self.film([])
    try write([[.integer(1)]], first, to: context)
    let second = try Self.film([FieldSchema("grade", .string, isOptional: true)])
    try evolve(context, try SchemaChange(from: first, to: second, sources: [.field(0), .fill(.text("old"))]))
    try write([[.integer(2), .null], [.integer(3), .text("own")]], second, to: context)
    let third = try Self.film([FieldSchema("class", .string), FieldSchema("stars", .int64)])
    let change = try SchemaChange(
      from: second, to: third,
      sources: [.field(0), .field(1, replacingNil: .text("none")), .fill(.integer(5))])
    #expect(try context.cost(of: change) == .catalog)
    try evolve(context, change)
    try write([[.integer(4), .text("new"), .integer(1)]], third, to: context)
    #expect(
      try rows(FetchRequest(third), context) == [
        [.integer(1), .text("old"), .integer(5)], [.integer(2), .text("none"), .integer(5)],
        [.integer(3), .text("own"), .integer(5)], [.integer(4), .text("new"), .integer(1)],
      ])
    let none = PredicateNode.comparison(field: "class", .equal, .text("none"))
    #expect(try context.count(FetchRequest(third, where: none)) == 1)
  }

  @Test("New indexes contain fills, and dropped indexes leave the others in use")
  func indexes() throws {
    let context = try Scratch().open()
    let first = try Self.first()
    try write(Self.films, first, to: context)
    let second = try Self.film(
      Array(first.fields.dropFirst()) + [FieldSchema("rating", .string)],
      indexes: [
        IndexSchema(["year"], isUnique: true), IndexSchema(["year"]), IndexSchema(["rating", "title"]),
      ])
    let change = try SchemaChange(
      from: first, to: second, sources: (0..<4).map { .field($0) } + [.fill(.text("PG"))])
    #expect(try context.cost(of: change) == .indexes)
    try evolve(context, change)
    let request = try FetchRequest(
      second, where: .comparison(field: "rating", .equal, .text("PG")), order: [FieldOrder("title")], limit: 4
    )
    #expect(
      try rows(request, context).map { $0[0] } == [.integer(0), .integer(10), .integer(20), .integer(30)])
    #expect(try context.plan(for: request).ordering != .sorted)
    let byYear = try FetchRequest(second, order: [FieldOrder("year", isDescending: true)], limit: 2)
    #expect(try rows(byYear, context).map { $0[0] } == [.integer(39), .integer(38)])
    expectError(.uniqueViolation) {
      try write([[.integer(99), .text("x"), .integer(1980), .null, .text("G")]], second, to: context)
    }
    // Writes maintain all indexes, whose entries would otherwise be missing.
    try context.transaction { transaction in
      let deleted = try transaction.delete(FetchRequest(second))
      #expect(deleted == 40)
    }
    #expect(try context.count(FetchRequest(second)) == 0)
  }

  @Test("A unique violation leaves schema, records and indexes as they were")
  func violation() throws {
    let context = try Scratch().open()
    let first = try Self.first()
    try write(Self.films, first, to: context)
    let unique = try Self.film(
      Array(first.fields.dropFirst()), name: "Movie", indexes: [IndexSchema(["title"], isUnique: true)])
    let change = try SchemaChange(from: first, to: unique, sources: (0..<4).map { .field($0) })
    expectError(.uniqueViolation) { try evolve(context, change) }
    try context.transaction { transaction in
      expectError(.uniqueViolation) { try transaction.evolve(change) }
      let count = try transaction.count(FetchRequest(first))
      #expect(count == 40)
    }
    #expect(try context.catalog() == [first])
    let byYear = try FetchRequest(first, order: [FieldOrder("year")], limit: 3)
    #expect(try rows(byYear, context) == Array(Self.films.prefix(3)))
    #expect(try context.plan(for: byYear).ordering != .sorted)
  }

  @Test("W5 a rollback, nested or not, restores the schema and its requests")
  func rollback() throws {
    let context = try Scratch().open()
    let first = try Self.first()
    try write(Self.films, first, to: context)
    let change = try Self.second(first)
    #expect(throws: RolledBack.self) {
      try context.transaction { transaction in
        try? transaction.nested {
          try transaction.evolve(change)
          #expect(try transaction.count(FetchRequest(change.target)) == 40)
          throw RolledBack()
        }
        #expect(try rows(FetchRequest(first), transaction) == Self.films)
        #expect(try transaction.schema(named: "Movie") == nil)
        try transaction.evolve(change)
        #expect(try rows(FetchRequest(change.target), transaction).count == 40)
        #expect(try transaction.schema(named: "Film") == nil)
        throw RolledBack()
      }
    }
    #expect(try rows(FetchRequest(first), context) == Self.films)
    try evolve(context, change)
    #expect(try rows(FetchRequest(change.target), context).count == 40)
  }

  @Test("S10 a snapshot keeps its schema, and another context uses the new one at its next call")
  func otherReaders() throws {
    let scratch = try Scratch()
    let (context, other) = (try scratch.open(), try scratch.open())
    let first = try Self.first()
    try write(Self.films, first, to: context)
    #expect(try other.count(FetchRequest(first)) == 40)
    let snapshot = try other.snapshot()
    let target = try Self.film(Array(first.fields.dropFirst()) + [FieldSchema("rating", .string)])
    try evolve(
      context,
      try SchemaChange(from: first, to: target, sources: (0..<4).map { .field($0) } + [.fill(.text("PG"))]))
    #expect(try rows(FetchRequest(first), snapshot) == Self.films)
    #expect(try snapshot.schema(named: "Film") == first)
    #expect(try rows(FetchRequest(target), other) == Self.films.map { $0 + [.text("PG")] })
    expectError(.schemaMismatch) { try other.count(FetchRequest(first)) }
    #expect(try rows(FetchRequest(first), snapshot) == Self.films)
  }

  @Test("Computed values and erased fields rewrite records in several batches, and keep valid indexes")
  func rewriting() throws {
    let context = try Scratch().open()
    let first = try Self.first()
    let long = String(repeating: "x", count: 400_000)
    let films = Self.films.map { [$0[0], $0[1], $0[2], .text(long)] }
    try write(films, first, to: context)
    let target = try Self.film(
      [
        FieldSchema("title", .string), FieldSchema("decade", .int64), FieldSchema("year", .int16),
        FieldSchema("note", .string, isOptional: true),
      ], indexes: [IndexSchema(["year"])])
    let sources: [SchemaChange.Source] = [.field(0), .field(1), .computed, .field(2), .field(3)]
    let failing = try SchemaChange(from: first, to: target, sources: sources) { row, computed in
      guard case .integer(let year) = try row.value(at: 2), year < 2010 else { throw RolledBack() }
      computed.set(.integer(year / 10), at: 0)
    }
    #expect(try context.cost(of: failing) == .rewrite)
    #expect(throws: RolledBack.self) { try evolve(context, failing) }
    #expect(try rows(FetchRequest(first), context) == films)
    let change = try SchemaChange(from: first, to: target, sources: sources) { row, computed in
      guard case .integer(let year) = try row.value(at: 2) else { return }
      computed.set(.integer(year / 10), at: 0)
    }
    try evolve(context, change)
    let byYear = try FetchRequest(target, order: [FieldOrder("year")])
    #expect(
      try rows(byYear, context)
        == Self.films.enumerated().map {
          [$1[0], $1[1], .integer(Int64(1980 + $0) / 10), $1[2], .text(long)]
        })
    let brief = try Self.film(Array(target.fields[1...3]), indexes: target.indexes)
    let erasing = try SchemaChange(from: target, to: brief, sources: (0..<4).map { .field($0) })
    #expect(try context.cost(of: erasing) == .rewrite)
    try evolve(context, erasing)
    let late = PredicateNode.comparison(field: "year", .equal, .integer(2019))
    #expect(
      try rows(FetchRequest(brief, where: late), context)
        == [[.integer(39), .text("film 9"), .integer(201), .integer(2019)]])
  }

  @Test("A model without records changes in the catalog only")
  func empty() throws {
    let context = try Scratch().open()
    let first = try Self.first()
    try write([], first, to: context)
    let target = try Self.film(
      [FieldSchema("title", .int64)], indexes: [IndexSchema(["title"], isUnique: true)])
    let change = try SchemaChange(from: first, to: target, sources: [.field(0), .computed]) { _, _ in }
    #expect(try context.cost(of: change) == .catalog)
    try evolve(context, change)
    try write([[.integer(1), .integer(1)]], target, to: context)
    expectError(.uniqueViolation) { try write([[.integer(2), .integer(1)]], target, to: context) }
    #expect(try rows(FetchRequest(target), context) == [[.integer(1), .integer(1)]])
  }
}
