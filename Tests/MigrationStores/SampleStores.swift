package import Foundation
package import PersistenceDriver

/// Sample data with every kind of value, and with hostile names and keys.
package enum SampleStores {
  /// A model with optional fields of every kind.
  package static func everyKind() throws -> ModelSchema {
    let fields = FieldKind.allCases.map { FieldSchema("\($0.rawValue) field", $0, isOptional: true) }
    return try ModelSchema(
      name: "every/kind é", fields: [FieldSchema("key", .string)] + fields, key: ["key"],
      indexes: [IndexSchema(["int64 field"]), IndexSchema(["string field"], isUnique: true)])
  }

  /// A model with a key of two fields.
  package static func pairs() throws -> ModelSchema {
    try ModelSchema(
      name: "Pair",
      fields: [FieldSchema("left", .int64), FieldSchema("right", .uuid), FieldSchema("n", .double)],
      key: ["left", "right"], indexes: [IndexSchema(["right"]), IndexSchema(["n"])])
  }

  /// Rows of ``everyKind()``: extremes, empties and nils.
  package static func rows() throws -> [[PersistentValue]] {
    let big = Decimal(canonicalText: "123456789012345678901234567890.12345678") ?? .nan
    let date = 694_224_000.123456
    return [
      row(
        "",
        [.bool(false), .integer(-128), .double(.nan), .double(.infinity), .text(""), .bytes([]), .date(0)]),
      row(
        "a\0b", [.bool(true), .integer(127), .text("é\0😀"), .bytes([0, 255]), .date(date), .decimal(big)]),
      row("e\u{301}", [.text("e\u{301}"), .document("{\"a\":[1,null,9007199254740993]}"), .decimal(.nan)]),
      row(
        "../../x",
        [
          .integer(.max), .date(-.infinity),
          .uuid(UUID(uuid: uuid_t(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))),
        ]),
      row(
        String(repeating: "k", count: 300),
        [.text(String(repeating: "long ", count: 4000)), .double(-.infinity)]),
    ]
  }

  /// A row of ``everyKind()``: puts each value into the first field of its kind.
  private static func row(_ key: String, _ values: [PersistentValue]) -> [PersistentValue] {
    var row: [PersistentValue] = [.text(key)] + FieldKind.allCases.map { _ in .null }
    for value in values {
      for (index, kind) in FieldKind.allCases.enumerated() where kind.tag == value.tag {
        if let range = kind.integerRange, case .integer(let number) = value, !range.contains(number) {
          continue
        }
        if kind == .url { continue }
        if kind == .float, case .double(let number) = value, number.isFinite, Double(Float(number)) != number
        {
          continue
        }
        row[index + 1] = value
        break
      }
    }
    return row
  }

  /// Fills a store with both models.
  package static func fill(_ store: any StorageContext, pairCount: Int = 1000) throws {
    let (kinds, pairs) = (try everyKind(), try pairs())
    try store.transaction { transaction in
      try transaction.define(kinds)
      try transaction.define(pairs)
      let row = RowBuffer(count: kinds.fields.count)
      for values in try rows() {
        row.set(values)
        try row.withRow { try transaction.insert($0, in: kinds) }
      }
      let pair = RowBuffer(count: 3)
      for number in 0..<pairCount {
        pair.set([.integer(Int64(number % 7)), .uuid(uuid(number)), .double(Double(number) / 3)])
        try pair.withRow { try transaction.insert($0, in: pairs) }
      }
    }
  }

  /// A UUID derived from a number.
  package static func uuid(_ number: Int) -> UUID {
    let bytes = withUnsafeBytes(of: number.bigEndian) { Array($0) }
    return UUID(
      uuid: (
        bytes[7], bytes[6], bytes[5], bytes[4], 0, 0, 0, 0, 0, 0, 0, 0, bytes[0], bytes[1], bytes[2], bytes[3]
      ))
  }

  /// Saves one row.
  package static func save(_ values: [PersistentValue], _ schema: ModelSchema, in store: any StorageContext)
    throws
  {
    try store.transaction { transaction in
      try transaction.define(schema)
      let row = RowBuffer(count: schema.fields.count)
      row.set(values)
      try row.withRow { try transaction.save($0, in: schema) }
    }
  }
}
