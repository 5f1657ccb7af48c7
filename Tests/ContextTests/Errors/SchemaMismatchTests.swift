import ContextTestSupport
import PersistenceCore
import Testing

@Suite("E4: stores of another schema")
struct SchemaMismatchTests {
  private static let fields = [
    FieldSchema("id", .int64), FieldSchema("name", .string), FieldSchema("size", .double, isOptional: true),
  ]

  private static func stored() throws -> ModelSchema {
    try ModelSchema(name: "Thing", fields: fields, key: ["id"], indexes: [IndexSchema(["name"])])
  }

  /// One kind of change, the schema after it, and what the error must say.
  private static func changes() throws -> [(schema: ModelSchema, says: String)] {
    func schema(
      _ fields: [FieldSchema], key: [String] = ["id"], indexes: [IndexSchema] = [IndexSchema(["name"])]
    ) throws -> ModelSchema { try ModelSchema(name: "Thing", fields: fields, key: key, indexes: indexes) }
    return [
      (try schema(fields + [FieldSchema("new", .bool)]), "new"),
      (try schema(Array(fields.dropLast())), "size"),
      (try schema([fields[0], fields[1], FieldSchema("size", .int64, isOptional: true)]), "size"),
      (try schema([fields[0], fields[1], FieldSchema("size", .double)]), "size"),
      (try schema([fields[0], FieldSchema("name", .string, isOptional: true), fields[2]]), "name"),
      (try schema([fields[0], FieldSchema("Name", .string), fields[2]], indexes: []), "Name"),
      (try schema([fields[0], FieldSchema("name", .url), fields[2]]), "name"),
      (try schema([FieldSchema("id", .string), fields[1], fields[2]]), "id"),
      (try schema(fields, key: ["name"]), "primary key"),
      (try schema(fields, key: ["id", "name"]), "primary key"),
      (try schema(fields, indexes: []), "index"),
      (try schema(fields, indexes: [IndexSchema(["name"]), IndexSchema(["size"])]), "index"),
      (try schema(fields, indexes: [IndexSchema(["name"], isUnique: true)]), "index"),
    ]
  }

  private static let rows: [[PersistentValue]] = [
    [.integer(1), .text("a"), .double(1.5)], [.integer(2), .text("b"), .null],
  ]

  @Test(
    "E4 every kind of change throws schemaMismatch with the difference, for every call, and reads nothing wrongly",
    arguments: ContextUnderTest.all)
  func changes(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try RowStore(repository.storage, Self.stored()).save(Self.rows)
    for isReopened in [false, true] {
      if isReopened {
        guard try repository.storage.capabilities.isDurable else { break }
        try repository.close()
        repository = try store.open()
      }
      let storage = try repository.storage
      for (schema, says) in try Self.changes() {
        let key = RecordKey(
          schema.keyPositions.map { schema.fields[$0].kind == .string ? .text("a") : .integer(1) })
        let errors = [
          expectError(.schemaMismatch) { try storage.fetch(FetchRequest(schema)) },
          expectError(.schemaMismatch) { try storage.count(FetchRequest(schema)) },
          expectError(.schemaMismatch) { _ = try storage.find(key, in: schema) { _ in } },
          expectError(.schemaMismatch) { try storage.snapshot().fetch(FetchRequest(schema)) },
          expectError(.schemaMismatch) { try storage.transaction { try $0.define(schema) } },
          expectError(.schemaMismatch) { try storage.transaction { _ = try $0.deleteAll(in: schema) } },
          expectError(.schemaMismatch) { try storage.transaction { _ = try $0.delete(key, in: schema) } },
          expectError(.schemaMismatch) {
            try storage.transaction { _ = try $0.delete(FetchRequest(schema)) }
          },
        ]
        for error in errors {
          #expect(error?.message.contains(says) == true && error?.model == "Thing", "\(schema)")
        }
      }
      #expect(try storage.catalog() == [Self.stored()])
      #expect(try RowStore(storage, Self.stored()).rows() == Self.rows)
    }
  }

  @Test("E4 the order of fields does not matter: stores know them by name", arguments: ContextUnderTest.all)
  func fieldOrder(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try RowStore(repository.storage, Self.stored()).save(Self.rows)
    if try repository.storage.capabilities.isDurable {
      try repository.close()
      repository = try store.open()
    }
    let turned = try ModelSchema(
      name: "Thing", fields: Self.fields.reversed(), key: ["id"], indexes: [IndexSchema(["name"])])
    let reversed = try RowStore(repository.storage, turned)
    #expect(try reversed.rows() == Self.rows.map { $0.reversed() })
    #expect(try reversed.find([.integer(2)]) == Self.rows[1].reversed())
    try reversed.save([[.double(9), .text("c"), .integer(3)]])
    #expect(
      try reversed.rows(
        where: .comparison(field: "name", .greater, .text("a")),
        order: [FieldOrder("name", isDescending: true)]
      ).map { $0[2] } == [.integer(3), .integer(2)])
    #expect(
      try RowStore(repository.storage, Self.stored()).rows().last == [.integer(3), .text("c"), .double(9)])
    #expect(try reversed.delete([.integer(1)]))
    #expect(try RowStore(repository.storage, Self.stored()).rows().count == 2)
  }

  @Test(
    "E4 one model's mismatch leaves the other models alone, also in one transaction",
    arguments: ContextUnderTest.all)
  func otherModels(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try RowStore(repository.storage, Self.stored()).save(Self.rows)
    let changed = try Self.changes()[0].schema
    try repository.transaction { store in try store.save(Account(1, balance: 1)) }
    try repository.storage.transaction { transaction in
      expectError(.schemaMismatch) { try transaction.define(changed) }
      #expect(try transaction.count(FetchRequest(Self.stored())) == 2)
      _ = try transaction.delete(RecordKey([.integer(1)]), in: Account.schema.model)
    }
    #expect(try repository.count(Account.self) == 0)
    #expect(try RowStore(repository.storage, Self.stored()).rows() == Self.rows)
  }
}
