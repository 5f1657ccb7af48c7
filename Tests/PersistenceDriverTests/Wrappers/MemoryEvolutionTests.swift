import PersistenceDriver
import PersistenceDriverSupport
import Testing

/// Changes of schema in memory.
struct MemoryEvolutionTests {
  private let context = MemoryContext()
  private let stored: ModelSchema

  init() throws {
    stored = try ModelSchema(
      name: "Film",
      fields: [
        FieldSchema("id", .int64), FieldSchema("title", .string),
        FieldSchema("year", .int32, isOptional: true),
      ],
      key: ["id"], indexes: [IndexSchema(["title"], isUnique: true)])
    let schema = stored
    try context.transaction { try $0.define(schema) }
  }

  private func insert(_ rows: [[PersistentValue]], in schema: ModelSchema) throws {
    try context.transaction { transaction in
      let row = RowBuffer(count: schema.fields.count)
      for values in rows {
        row.set(values)
        try row.withRow { try transaction.insert($0, in: schema) }
      }
    }
  }

  private func rows(_ schema: ModelSchema, of reader: any StorageReader) throws -> [[PersistentValue]] {
    var rows: [[PersistentValue]] = []
    _ = try reader.fetch(FetchRequest(schema)).read(from: 0, limit: Int.max) { rows.append(try $0.values()) }
    return rows
  }

  @Test("renames and fills cost only the catalog, and keep a snapshot, unique indexes and a rollback")
  func catalogOnly() throws {
    try insert([[.integer(1), .text("One"), .null], [.integer(2), .text("Two"), .integer(2)]], in: stored)
    let target = try ModelSchema(
      name: "Movie",
      fields: [
        FieldSchema("rating", .string), FieldSchema("id", .int64), FieldSchema("name", .string),
        FieldSchema("year", .int64, isOptional: true),
      ], key: ["id"], indexes: [IndexSchema(["name"], isUnique: true)])
    let change = try SchemaChange(
      from: stored, to: target, sources: [.fill(.text("PG")), .field(0), .field(1), .field(2)])
    #expect(try context.cost(of: change) == .catalog)
    let snapshot = try context.snapshot()
    struct Stop: Error {}
    try context.transaction { transaction in
      #expect(throws: Stop.self) {
        try transaction.nested {
          try transaction.evolve(change)
          throw Stop()
        }
      }
      #expect(try transaction.catalog() == [stored])
      try transaction.evolve(change)
    }
    #expect(try context.catalog() == [target])
    #expect(
      try rows(target, of: context) == [
        [.text("PG"), .integer(1), .text("One"), .null],
        [.text("PG"), .integer(2), .text("Two"), .integer(2)],
      ])
    #expect(try rows(stored, of: snapshot).count == 2)
    let error = try #require(throws: PersistenceError.self) {
      try insert([[.text("R"), .integer(3), .text("One"), .null]], in: target)
    }
    #expect(error.code == .uniqueViolation)
    let again = try #require(throws: PersistenceError.self) {
      try context.transaction { try $0.evolve(change) }
    }
    #expect(again.code == .schemaMismatch)
  }

  @Test("a rename alone shares the records")
  func rename() throws {
    try insert([[.integer(1), .text("One"), .null]], in: stored)
    let target = try ModelSchema(
      name: "Film",
      fields: [
        FieldSchema("id", .int64), FieldSchema("name", .string),
        FieldSchema("year", .int32, isOptional: true),
      ],
      key: ["id"], indexes: [IndexSchema(["name"], isUnique: true)])
    let change = try SchemaChange(from: stored, to: target, sources: [.field(0), .field(1), .field(2)])
    #expect(try context.cost(of: change) == .catalog)
    try context.transaction { try $0.evolve(change) }
    #expect(try rows(target, of: context) == [[.integer(1), .text("One"), .null]])
    #expect(throws: PersistenceError.self) { try insert([[.integer(2), .text("One"), .null]], in: target) }
  }

  @Test("nils and new unique indexes have their costs, and a violation leaves everything as before")
  func costs() throws {
    let required = try ModelSchema(
      name: "Film",
      fields: [FieldSchema("id", .int64), FieldSchema("title", .string), FieldSchema("year", .int32)],
      key: ["id"], indexes: [IndexSchema(["title"], isUnique: true), IndexSchema(["year"], isUnique: true)])
    let change = try SchemaChange(
      from: stored, to: required, sources: [.field(0), .field(1), .field(2, replacingNil: .integer(0))])
    #expect(try context.cost(of: change) == .catalog)
    try insert([[.integer(1), .text("One"), .integer(1)]], in: stored)
    #expect(try context.cost(of: change) == .indexes)
    try insert([[.integer(2), .text("Two"), .null], [.integer(3), .text("Three"), .null]], in: stored)
    #expect(try context.cost(of: change) == .rewrite)
    let error = try #require(throws: PersistenceError.self) {
      try context.transaction { try $0.evolve(change) }
    }
    #expect(error.code == .uniqueViolation)
    #expect(try rows(stored, of: context).count == 3)
    try context.transaction { _ = try $0.delete(RecordKey([.integer(3)]), in: stored) }
    try context.transaction { try $0.evolve(change) }
    #expect(try rows(required, of: context).map { $0[2] } == [.integer(1), .integer(0)])
  }
}
