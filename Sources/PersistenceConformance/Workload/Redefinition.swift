import PersistenceCore

/// A model that is replaced, again and again, by one of its name with another schema and other rows.
enum Redefinition {
  private static let count = 40

  /// The model in its n-th form: each has a field of its own, so that none is read as another.
  static func schema(_ number: Int) throws -> ModelSchema {
    try ModelSchema(
      name: "Changing",
      fields: [
        FieldSchema("id", .int64), FieldSchema("of \(number)", number.isMultiple(of: 2) ? .string : .int64),
      ], key: ["id"], indexes: [IndexSchema(["of \(number)"])])
  }

  /// The rows of the n-th form.
  static func rows(_ number: Int) -> [[PersistentValue]] {
    (0..<count).map { id in
      [
        .integer(Int64(id)),
        number.isMultiple(of: 2) ? .text("\(number)-\(id)") : .integer(Int64(number + id)),
      ]
    }
  }

  /// Replaces the form before by the n-th one.
  static func apply(_ number: Int, to storage: any StorageContext) throws {
    try storage.transaction { transaction in
      if number > 1 { try transaction.drop(schema(number - 1)) }
      let schema = try schema(number)
      try transaction.define(schema)
      let buffer = RowBuffer(count: 2)
      for row in rows(number) {
        buffer.set(row)
        try buffer.withRow { try transaction.insert($0, in: schema) }
      }
    }
  }

  /// The number of the form that a store holds, whole; 0 where it holds none.
  static func read(_ storage: any StorageContext) throws -> Int {
    let snapshot = try storage.snapshot()
    guard let schema = try snapshot.catalog().first(where: { $0.name == "Changing" }),
      let field = schema.fields.first(where: { $0.name.hasPrefix("of ") }),
      let number = Int(field.name.dropFirst(3))
    else { return 0 }
    try expect(schema, equals: Self.schema(number), "the schema of form \(number)")
    for order in [[], [FieldOrder(field.name)]] {
      let rows = try RowStore.rows(of: FetchRequest(schema, order: order), from: snapshot)
      try expect(Set(rows), equals: Set(Self.rows(number)), "the rows of form \(number)")
      try expect(rows.count == count, "\(rows.count) rows of form \(number)")
    }
    return number
  }
}
