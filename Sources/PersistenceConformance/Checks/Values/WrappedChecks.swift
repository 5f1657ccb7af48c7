import PersistenceCore

/// V1: enums and structs over the kinds, and stored values that are invalid for the type.
enum WrappedChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "structs and enums over every raw type, optional or not, are stored, compared and sorted"
        + " by their raw values", [.v1, .v2, .v4a]
    ) { context in for type in SampledTypes.wrapped { try wrapped(context, type) } },
    ConformanceCheck(
      "a stored raw value without an enum case throws unknownCase, naming model and key", [.v1, .r4],
      unknownCase),
    ConformanceCheck(
      "a number out of a field's range is rejected on write, or named on read", [.v1], tooWide),
    ConformanceCheck(
      "an invalid schema throws invalidSchema, naming the model and the reason", [.v1, .o1, .e2],
      impossibleSchemas),
  ]

  private static func wrapped<Value: SampledValue>(_ context: ContextUnderTest, _ type: Value.Type) throws {
    typealias Model = Sample<Value>
    let models = Model.all(seed: 14).map(\.asStored)
    let repository = try context.makeRepository(with: models)
    try expect(repository.fetch(Model.self).map(\.exactText), equals: models.map(\.exactText))
    let middle = Value.samples[Value.samples.count / 2]
    try expect(
      Condition.comparisons(optional: \Model.maybe, middle)
        + [.in(\Model.maybe, [nil, middle]), .in(\Model.value, [middle])],
      over: models, in: repository)
    let sorted = models.sorted { left, right in
      let order = Value?.oracle(left.maybe, right.maybe)
      return order == 0 ? left.id < right.id : order < 0
    }
    try expect(
      repository.filter(Model.self).sorted(by: \.maybe).ids(), equals: sorted.map(\.id),
      "\(Value.self) sorted")
  }

  @Sendable private static func unknownCase(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(Keyed(WrappedWord.lower, "known"))
    let schema = try Keyed<WrappedWord>.schema.model
    try RowStore(repository.storage, schema).save([[.text("no case"), .text("unknown")]])
    let error = try expectError(.unknownCase) { try Array(repository.fetch(Keyed<WrappedWord>.self)) }
    try expect(error.model, equals: schema.name)
    try expect(error.key, equals: RecordKey([.text("no case")]))
    try expect(repository.find(Keyed<WrappedWord>.self, id: .lower)?.label, equals: "known")
    try expect(RowStore(repository.storage, schema).delete([.text("no case")]))
    try expect(repository.fetch(Keyed<WrappedWord>.self).map(\.label), equals: ["known"])
  }

  @Sendable private static func tooWide(_ context: ContextUnderTest) throws {
    func check<Value: SampledValue>(_ type: Value.Type, _ number: Int64) throws {
      let repository = try context.makeStore().open()
      let schema = try Sample<Value>.schema.model
      do {
        try RowStore(repository.storage, schema).save([
          [.integer(1), .integer(number), .integer(0), .null, .null]
        ])
      } catch is PersistenceError {
        try expect(repository.count(Sample<Value>.self), equals: 0, "\(number) as \(type)")
        return
      }
      let error = try expectError(.damaged, "\(number) as \(type)") {
        try Array(repository.fetch(Sample<Value>.self)).map(\.exactText)
      }
      try expect(error.model, equals: schema.name)
    }
    try check(Int8.self, 128)
    try check(Int8.self, -129)
    try check(Int16.self, 1 << 15)
    try check(Int32.self, 1 << 31)
    try check(UInt8.self, -1)
    try check(UInt8.self, 256)
    try check(UInt16.self, 1 << 16)
    try check(UInt32.self, 1 << 32)
    try check(UInt32.self, -1)
  }

  // The compiler rejects UInt and UInt64 in models, so no check covers them.
  @Sendable private static func impossibleSchemas(_ context: ContextUnderTest) throws {
    typealias Parts = (fields: [FieldSchema], key: [String], indexes: [IndexSchema])
    let id = FieldSchema("id", .int64)
    var impossible: [(String, Parts)] = [
      ("no key", ([id], [], [])), ("a key without a field", ([id], ["Id"], [])),
      ("a key field twice", ([id], ["id", "id"], [])),
      ("a field twice", ([id, FieldSchema("id", .string)], ["id"], [])),
      ("an optional key", ([FieldSchema("id", .int64, isOptional: true)], ["id"], [])),
      ("an index without fields", ([id], ["id"], [IndexSchema([])])),
      ("an index over an unknown field", ([id], ["id"], [IndexSchema(["x"])])),
      ("an index over a field twice", ([id], ["id"], [IndexSchema(["id", "id"])])),
      (
        "an index over a document",
        ([id, FieldSchema("list", .document)], ["id"], [IndexSchema(["list"], isUnique: true)])
      ),
    ]
    for kind in FieldKind.allCases where ![.int64, .string, .uuid].contains(kind) {
      impossible.append(("a key of kind \(kind.rawValue)", ([FieldSchema("id", kind)], ["id"], [])))
    }
    for (what, parts) in impossible {
      let error = try expectError(.invalidSchema, what) {
        try ModelSchema(name: "Impossible", fields: parts.fields, key: parts.key, indexes: parts.indexes)
      }
      try expect(error.model == "Impossible" && error.message.contains("Impossible"), what)
    }
  }
}
