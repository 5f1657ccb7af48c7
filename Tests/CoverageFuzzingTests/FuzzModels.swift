import Foundation
import PersistenceDriver

/// The models that targets read records of.
enum FuzzModels {
  /// A model with a field of every kind, which may be nil, and two required fields.
  static func everyKind() throws -> ModelSchema { try kinds.get() }

  private static let kinds = Result {
    try ModelSchema(
      name: "Every kind",
      fields: [FieldSchema("id", .int64), FieldSchema("is new", .bool)]
        + FieldKind.allCases.map { FieldSchema($0.rawValue, $0, isOptional: true) },
      key: ["id"],
      indexes: [
        IndexSchema(["string"]), IndexSchema(["int32", "date"]), IndexSchema(["decimal"], isUnique: true),
      ])
  }

  /// A model with a key of two fields.
  static func pair() throws -> ModelSchema { try pairs.get() }

  private static let pairs = Result {
    try ModelSchema(
      name: "Pair", fields: [FieldSchema("name", .string), FieldSchema("uuid", .uuid)], key: ["uuid", "name"])
  }

  /// A model whose key is text.
  static func named() throws -> ModelSchema { try names.get() }

  private static let names = Result {
    try ModelSchema(name: "Named", fields: [FieldSchema("name", .string)], key: ["name"])
  }

  /// Records of ``everyKind()``: with all fields, and without optional ones.
  static let records: [[PersistentValue]] = [
    [.integer(17), .bool(true)] + FieldKind.allCases.map(value),
    [.integer(-1), .bool(false)] + FieldKind.allCases.map { _ in .null },
  ]

  private static func value(_ kind: FieldKind) -> PersistentValue {
    switch kind {
    case .bool: .bool(false)
    case .int8: .integer(-128)
    case .int16: .integer(12_345)
    case .int32: .integer(-70_000)
    case .int64: .integer(1 << 53 + 1)
    case .uint8: .integer(255)
    case .uint16: .integer(65_535)
    case .uint32: .integer(4_000_000_000)
    case .float: .double(0.5)
    case .double: .double(-1.25e300)
    case .string: .text("Amélie, \"quoted\"\n%_\u{0}")
    case .data: .bytes([0, 255, 0, 1])
    case .date: .date(301_017_600.5)
    case .uuid: .uuid(UUID(uuid: (107, 167, 184, 16, 157, 173, 17, 209, 128, 180, 0, 192, 79, 212, 48, 200)))
    case .url: .text("https://example.org/a?b=c")
    case .decimal: .decimal(Decimal(sign: .minus, exponent: -3, significand: 1_234_500))
    case .document: .document("{\"city\":\"Oslo\",\"tags\":[\"new\",1.50,null,{\"a\":true}]}")
    }
  }

  /// Calls a closure with each of ``records`` as a row.
  static func forEachRow(_ body: (borrowing Row) throws -> Void) throws {
    let row = RowBuffer(count: try everyKind().fields.count)
    for record in records {
      row.set(record)
      try row.withRow { try body($0) }
    }
  }
}

extension RowBuffer {
  /// Whether two rows have the same cells; the text of decimals need not be a number.
  func hasSameCells(as other: RowBuffer) -> Bool {
    withRow { left in
      other.withRow { right in
        guard left.count == right.count else { return false }
        for position in 0..<left.count {
          let (first, second) = (left[position], right[position])
          guard first.tag == second.tag else { return false }
          let isSame =
            first.tag == .decimal
            ? first.borrowedBytes.elementsEqual(second.borrowedBytes) : RowCell.compare(first, second) == 0
          if !isSame { return false }
        }
        return true
      }
    }
  }
}
