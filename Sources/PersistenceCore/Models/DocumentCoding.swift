import Foundation

import PersistenceDriver
import PersistencePrimitives

/// The coding of nested `Codable` values as documents (contract V1): JSON, with NaN and the infinities as
/// the strings `NaN`, `Infinity` and `-Infinity`.
enum DocumentCoding {
  /// The canonical document of a value; nil for a nil optional.
  ///
  /// The elements of a set, or of a dictionary whose keys are not strings or integers, are sorted by their text, so that
  /// equal values have the same document in every process. Inside another value, they cannot be distinguished from an
  /// array, and keep the order of the process.
  static func encode(_ value: some Encodable) throws -> String? {
    if let optional = value as? any OptionalValue, optional.isNil { return nil }
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.withoutEscapingSlashes]
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
      let data = try encoder.encode(value)
      guard let size = (value as? any UnorderedElements)?.sizeOfUnorderedElement else {
        return try JSONText.canonical(data)
      }
      return JSONText.canonical(try data.withUnsafeBytes { try JSONParser.parse($0) }.sorted(by: size))
    } catch {
      throw PersistenceError(
        .encodingFailed, "a value of type \(type(of: value)) could not be encoded as JSON: \(error)")
    }
  }

  static func decode<Value: Decodable>(
    _ type: Value.Type, from cell: RowCell, at position: Int
  ) throws -> Value {
    if cell.isNull, let type = type as? any OptionalValue.Type, let none = type.none as? Value { return none }
    guard cell.tag == .document else {
      throw PersistenceError.damaged(
        "field number \(position) contains \(cell.tag) instead of a document")
    }
    do {
      let decoder = JSONDecoder()
      decoder.nonConformingFloatDecodingStrategy = .convertFromString(
        positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
      return try decoder.decode(type, from: Data(cell.borrowedBytes))
    } catch {
      throw PersistenceError.damaged("the document in field number \(position) is not a \(type): \(error)")
    }
  }
}

/// Values whose encoding has no fixed order.
private protocol UnorderedElements {
  /// The number of JSON array elements that belong together; nil if the JSON has a fixed order.
  var sizeOfUnorderedElement: Int? { get }
}

extension Set: UnorderedElements {
  var sizeOfUnorderedElement: Int? { 1 }
}

extension Dictionary: UnorderedElements {
  /// Keys other than strings and integers become an array of keys and values.
  var sizeOfUnorderedElement: Int? { 2 }
}

extension Optional: UnorderedElements {
  var sizeOfUnorderedElement: Int? { (flatMap { $0 as? any UnorderedElements })?.sizeOfUnorderedElement }
}

extension JSONValue {
  /// An array with its groups of elements sorted by the bytes of their text; other values unchanged.
  fileprivate func sorted(by size: Int) -> JSONValue {
    guard case .array(let elements) = self, elements.count.isMultiple(of: size) else { return self }
    let groups = stride(from: 0, to: elements.count, by: size).map { start in
      let group = elements[start..<start + size]
      return (text: StoredName(group.map { JSONText.canonical($0) }.joined(separator: ",")), group: group)
    }
    return .array(groups.sorted { $0.text < $1.text }.flatMap(\.group))
  }
}

/// An optional of unknown type, which a nested value may be.
protocol OptionalValue {
  static var none: Self { get }
  static var wrappedType: Any.Type { get }
  var isNil: Bool { get }
}

extension Optional: OptionalValue {
  static var wrappedType: Any.Type { Wrapped.self }
  var isNil: Bool { self == nil }
}
