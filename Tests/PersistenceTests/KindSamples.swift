import Foundation
import Persistence
import Testing

extension KindsByMacro {
  /// Boundary values of every kind, and one model whose optional values are all nil.
  static func samples() throws -> [KindsByMacro] {
    let url = try #require(URL(string: "https://example.com/é?q=1"))
    let least = KindsByMacro(
      bool: false, name: "", int8: .min, int16: .min, int32: .min, int64: .min, int: .min, uint8: .min,
      uint16: .min, uint32: .min, float: -.infinity, double: .leastNonzeroMagnitude, bytes: [], data: Data(),
      date: Date(timeIntervalSinceReferenceDate: -1e9 / 3),
      uuid: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
      url: url, decimal: Decimal(sign: .minus, exponent: -20, significand: 12_345), level: .low,
      code: Code(rawValue: "e\u{301}\u{0}"), address: Address(street: "\u{1F3E0}"), tags: [], table: [:])
    var greatest = KindsByMacro(
      bool: true, name: "\u{E9}", int8: .max, int16: .max, int32: .max, int64: .max, int: .max, uint8: .max,
      uint16: .max, uint32: .max, float: 0.1, double: 0.1, bytes: [0, 255], data: Data([1, 2]),
      date: Date(timeIntervalSinceReferenceDate: 0.1), uuid: UUID(), url: url, decimal: 1, level: .high,
      code: Code(rawValue: ""), address: Address(street: "a", floors: [1, nil, 9_007_199_254_740_993]),
      tags: ["", "b"], table: ["a": 1, "": .min])
    greatest.optionalBool = true
    greatest.optionalInt = 9_007_199_254_740_993
    greatest.optionalString = ""
    greatest.optionalData = Data()
    greatest.optionalDate = Date(timeIntervalSinceReferenceDate: 1)
    greatest.optionalUUID = UUID()
    greatest.optionalDecimal = Decimal(string: "0.1")
    greatest.optionalLevel = .high
    greatest.optionalCode = Code(rawValue: "x")
    greatest.optionalAddress = Address(street: "")
    greatest.optionalTags = []
    return [least, greatest]
  }
}

extension PersistentRecord {
  /// The values that the model encodes into a row.
  func rowValues() throws -> [PersistentValue] {
    let row = RowBuffer(count: try Self.schema.model.fields.count)
    try encode(into: row)
    return try row.withRow { try $0.values() }
  }

  /// Decodes a model from another model's row.
  static func read(fromRowOf other: some PersistentRecord) throws -> Self {
    let row = RowBuffer(count: try Self.schema.model.fields.count)
    try other.encode(into: row)
    return try row.withRow { try Self(from: $0) }
  }
}
