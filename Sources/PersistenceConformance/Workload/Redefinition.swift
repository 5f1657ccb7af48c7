import PersistenceCore

/// A model that is repeatedly replaced by one with the same name, another schema and other rows.
enum Redefinition {
  private static let count = 40

  /// The model in its n-th version; each has a field of its own, so that no version reads as another.
  static func schema(_ number: Int) throws -> ModelSchema {
    try ModelSchema(
      name: "Changing",
      fields: [
        FieldSchema("id", .int64), FieldSchema("of \(number)", number.isMultiple(of: 2) ? .string : .int64),
      ], key: ["id"], indexes: [IndexSchema(["of \(number)"])])
  }

  static func rows(_ number: Int) -> [[PersistentValue]] {
    (0..<count).map { id in
      [
        .integer(Int64(id)),
        number.isMultiple(of: 2) ? .text("\(number)-\(id)") : .integer(Int64(number + id)),
      ]
    }
  }

  static func apply(_ number: Int, to storage: any StorageContext) throws {
    try storage.transaction { transaction in
      if number > 1 { try transaction.drop(schema(number - 1)) }
      let schema = try schema(number)
      try transaction.define(schema)
      try transaction.insert(rows(number), in: schema)
    }
  }

  /// Returns the number of the complete version in a store; 0 if there is none.
  static func read(_ storage: any StorageContext) throws -> Int {
    let snapshot = try storage.snapshot()
    guard let schema = try snapshot.catalog().first(where: { $0.name == "Changing" }),
      let field = schema.fields.first(where: { $0.name.hasPrefix("of ") }),
      let number = Int(field.name.dropFirst(3))
    else { return 0 }
    try expect(schema, equals: Self.schema(number), "the schema of version \(number)")
    for order in [[], [FieldOrder(field.name)]] {
      let rows = try RowStore.rows(of: FetchRequest(schema, order: order), from: snapshot)
      try expect(Set(rows), equals: Set(Self.rows(number)), "the rows of version \(number)")
      try expect(rows.count == count, "\(rows.count) rows of version \(number)")
    }
    return number
  }
}
