import PersistenceCore

/// E4: stores with another schema.
enum SchemaMismatchChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "every incompatible schema change makes every call throw schemaMismatch with the difference",
      [.e4], changes),
    ConformanceCheck(
      "the declared order of fields does not matter, because stores identify fields by name", [.e4],
      fieldOrder),
    ConformanceCheck(
      "a mismatch of one model does not affect other models, also in one transaction", [.e4], otherModels),
    ConformanceCheck(
      "schema(named:) returns the model of the catalog, also within a transaction", [.e4, .e6], byName),
  ]

  private static let fields = [
    FieldSchema("id", .int64), FieldSchema("name", .string), FieldSchema("size", .double, isOptional: true),
  ]

  private static func stored() throws -> ModelSchema {
    try ModelSchema(name: "Thing", fields: fields, key: ["id"], indexes: [IndexSchema(["name"])])
  }

  /// One kind of change, the changed schema, and the required text of the error.
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
      (try schema(fields, key: ["id", "name"]), "primary key"), (try schema(fields, indexes: []), "index"),
      (try schema(fields, indexes: [IndexSchema(["name"]), IndexSchema(["size"])]), "index"),
      (try schema(fields, indexes: [IndexSchema(["name"], isUnique: true)]), "index"),
    ]
  }

  @Sendable private static func byName(_ context: ContextUnderTest) throws {
    let storage = try context.makeStore().open().storage
    // Names that are equal to a store that folds case or composes characters.
    let names = ["Thing", "thing", "\u{E9}", "e\u{301}", "", "a\0b", "a"]
    func check(_ reader: any StorageReader, _ held: [String], _ place: String) throws {
      try expect(reader.catalog().count == held.count, "the catalog, \(place)")
      for name in names + ["Things"] {
        let schema = try reader.schema(named: name)
        let isHeld = held.contains { $0.utf8.elementsEqual(name.utf8) }
        try expect((schema != nil) == isHeld, "\(name.debugDescription), \(place)")
        try expect(
          schema.map { $0.name.utf8.elementsEqual(name.utf8) && $0.fields == fields } ?? true,
          "the schema of \(name.debugDescription), \(place)")
      }
    }
    func schema(_ name: String) throws -> ModelSchema {
      try ModelSchema(name: name, fields: fields, key: ["id"])
    }
    try check(storage, [], "before")
    for (index, name) in names.enumerated() {
      try storage.transaction { transaction in
        try transaction.define(schema(name))
        try check(
          transaction, Array(names[...index]), "in the transaction that defines \(name.debugDescription)")
      }
      try check(storage, Array(names[...index]), "after \(name.debugDescription)")
    }
    let snapshot = try storage.snapshot()
    if storage.capabilities.dropsModels {
      try expectThrows(SuiteError()) {
        try storage.transaction { transaction in
          try transaction.drop(schema(names[0]))
          try check(transaction, Array(names[1...]), "in the transaction that drops")
          throw SuiteError()
        }
      }
      try check(storage, names, "after the rollback")
      try storage.transaction { try $0.drop(schema(names[0])) }
      try check(storage, Array(names[1...]), "after dropping")
    }
    try check(snapshot, names, "in an earlier snapshot")
  }

  private static let rows: [[PersistentValue]] = [
    [.integer(1), .text("a"), .double(1.5)], [.integer(2), .text("b"), .null],
  ]

  @Sendable private static func changes(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try RowStore(repository.storage, Self.stored()).save(Self.rows)
    for isReopened in [false, true] {
      if isReopened, try !store.reopen(&repository) { break }
      let storage = try repository.storage
      for (schema, says) in try Self.changes() {
        let key = RecordKey(
          schema.keyPositions.map { schema.fields[$0].kind == .string ? .text("a") : .integer(1) })
        let errors = try expectErrors(
          .schemaMismatch, calls: { try storage.fetch(FetchRequest(schema)) },
          { try storage.count(FetchRequest(schema)) }, { try storage.find(key, in: schema) { _ in } },
          { try storage.snapshot().fetch(FetchRequest(schema)) },
          { try storage.aggregate(AggregateRequest(FetchRequest(schema, limit: 0), aggregates: [])) },
          { try storage.aggregate(AggregateRequest(FetchRequest(schema), aggregates: [.count])) },
          { try storage.fetch(FetchRequest(schema, limit: 0), selecting: [0]) },
          { try storage.transaction { try $0.define(schema) } },
          { try storage.transaction { _ = try $0.deleteAll(in: schema) } },
          { try storage.transaction { _ = try $0.delete(key, in: schema) } },
          { try storage.transaction { _ = try $0.delete(FetchRequest(schema)) } })
        for error in errors {
          try expect(error.message.contains(says) == true && error.model == "Thing", "\(schema)")
        }
      }
      try expect(storage.catalog(), equals: [Self.stored()])
      try expect(RowStore(storage, Self.stored()).rows(), equals: Self.rows)
    }
  }

  @Sendable private static func fieldOrder(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try RowStore(repository.storage, Self.stored()).save(Self.rows)
    try store.reopen(&repository)
    let turned = try ModelSchema(
      name: "Thing", fields: Self.fields.reversed(), key: ["id"], indexes: [IndexSchema(["name"])])
    let reversed = try RowStore(repository.storage, turned)
    try expect(reversed.rows(), equals: Self.rows.map { $0.reversed() })
    try expect(reversed.find([.integer(2)]), equals: Self.rows[1].reversed())
    try reversed.save([[.double(9), .text("c"), .integer(3)]])
    try expect(
      reversed.rows(
        where: .comparison(field: "name", .greater, .text("a")),
        order: [FieldOrder("name", isDescending: true)]
      ).map { $0[2] }, equals: [.integer(3), .integer(2)])
    try expect(
      RowStore(repository.storage, Self.stored()).rows().last, equals: [.integer(3), .text("c"), .double(9)])
    try expect(reversed.delete([.integer(1)]))
    try expect(RowStore(repository.storage, Self.stored()).rows().count, equals: 2)
  }

  @Sendable private static func otherModels(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try RowStore(repository.storage, Self.stored()).save(Self.rows)
    let changed = try Self.changes()[0].schema
    try repository.transaction { store in try store.save(Account(1, balance: 1)) }
    try repository.storage.transaction { transaction in
      try expectError(.schemaMismatch) { try transaction.define(changed) }
      try expect(transaction.count(FetchRequest(Self.stored())), equals: 2)
      _ = try transaction.delete(RecordKey([.integer(1)]), in: Account.schema.model)
    }
    try expect(repository.count(Account.self), equals: 0)
    try expect(RowStore(repository.storage, Self.stored()).rows(), equals: Self.rows)
  }
}
