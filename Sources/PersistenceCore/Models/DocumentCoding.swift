import Foundation

import PersistenceDriver

/// How nested `Codable` values become documents and back (contract V1): JSON, with NaN and the infinities as
/// the strings `NaN`, `Infinity` and `-Infinity`.
enum DocumentCoding {
  /// The canonical document of a value; nil for an optional without one.
  static func encode(_ value: some Encodable) throws -> String? {
    if let optional = value as? any OptionalValue, optional.isNil { return nil }
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.withoutEscapingSlashes]
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
      let data = try encoder.encode(value)
      return try JSONText.canonical(data)
    } catch {
      throw PersistenceError(
        .encodingFailed, "a value of type \(type(of: value)) could not be encoded as JSON: \(error)")
    }
  }

  static func decode<Value: Decodable>(_ type: Value.Type, from cell: RowCell, at position: Int) throws
    -> Value
  {
    if cell.isNull, let type = type as? any OptionalValue.Type, let none = type.none as? Value { return none }
    guard cell.tag == .document else {
      throw PersistenceError.damaged(
        "field number \(position) holds \(cell.tag) where a document was expected")
    }
    do {
      let decoder = JSONDecoder()
      decoder.nonConformingFloatDecodingStrategy = .convertFromString(
        positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
      return try decoder.decode(type, from: Data(cell.borrowedBytes))
    } catch {
      throw PersistenceError.damaged("the document in field number \(position) is no \(type): \(error)")
    }
  }
}

/// What is asked of an optional whose type is not known: a nested value may be one.
private protocol OptionalValue {
  static var none: Self { get }
  var isNil: Bool { get }
}

extension Optional: OptionalValue {
  var isNil: Bool { self == nil }
}
