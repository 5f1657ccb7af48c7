import Foundation
import PersistenceCore

/// E2 V1: rows that are invalid for their schema.
enum InvalidRowChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a row with an invalid nil, another kind or an integer out of range is rejected, and"
        + " leaves no trace", [.e2, .v1], rejections)
  ]

  @Sendable private static func rejections(_ context: ContextUnderTest) throws {
    let storage = try context.makeStore().open().storage
    for kind in FieldKind.allCases {
      for isOptional in [false, true] {
        let schema = try ModelSchema(
          name: "Of \(kind.rawValue)\(isOptional ? "?" : "")",
          fields: [FieldSchema("id", .int64), FieldSchema("field", kind, isOptional: isOptional)], key: ["id"]
        )
        let store = RowStore(storage, schema)
        let valid = try require(values.first { $0.tag == kind.tag }, kind.rawValue)
        try store.save([[.integer(1), valid]])
        for value in invalidValues(kind, isOptional: isOptional) {
          let row = [.integer(1), value]
          let what = "\(value) in \(schema)"
          try expectRejection(storage, schema, row, "save of \(what)") { try $0.save($1, in: schema) }
          try expectRejection(storage, schema, row, "update of \(what)") { try $0.update($1, in: schema) }
          try expectRejection(storage, schema, [.integer(2), value], "insert of \(what)") {
            try $0.insert($1, in: schema)
          }
        }
        for row in [[.null, valid], [.text("1"), valid], [.integer(2)], [.integer(2), valid, .null]] {
          try expectRejection(storage, schema, row, "save of \(row)") { try $0.save($1, in: schema) }
        }
        try expect(store.rows(), equals: [[.integer(1), valid]], "\(schema)")
      }
    }
  }

  /// Writes an invalid row in a transaction that then continues and commits.
  private static func expectRejection(
    _ storage: any StorageContext, _ schema: ModelSchema, _ row: [PersistentValue], _ what: String,
    _ write: (any StorageTransaction, borrowing Row) throws -> Void
  ) throws {
    try storage.transaction { transaction in
      let error = try expectError(.invalidRequest, what) { try row.withRow { try write(transaction, $0) } }
      try expect(error.model == schema.name, "\(what): \(error)")
    }
  }

  /// One value of each kind of cell, valid for every field of its kind.
  private static let values: [PersistentValue] = [
    .bool(true), .integer(1), .double(1), .text("a:b"), .bytes([1]), .date(1), .uuid(UUID()), .decimal(1),
    .document("1"),
  ]

  private static func invalidValues(_ kind: FieldKind, isOptional: Bool) -> [PersistentValue] {
    var invalidValues = values.filter { $0.tag != kind.tag }
    if !isOptional { invalidValues.append(.null) }
    if kind != .int64, let range = kind.integerRange {
      invalidValues += [.integer(range.lowerBound - 1), .integer(range.upperBound + 1), .integer(.min)]
    }
    return invalidValues
  }
}
