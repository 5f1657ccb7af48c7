import Foundation

import PersistenceDriver
import PersistencePrimitives

/// How nested `Codable` values become documents and back (contract V1): JSON, with NaN and the infinities as
/// the strings `NaN`, `Infinity` and `-Infinity`.
enum DocumentCoding {
  /// The canonical document of a value; nil for an optional without one.
  ///
  /// A set, and a dictionary whose keys are neither texts nor whole numbers, is written in the order of its elements'
  /// texts, so that equal ones are one document in every process. One inside of another value cannot be told from an
  /// array, and stands as the process held it.
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

/// Values whose elements are encoded in the order in which a process happens to hold them.
private protocol UnorderedElements {
  /// How many elements of the JSON array belong together; nil where the JSON has an order of its own.
  var sizeOfUnorderedElement: Int? { get }
}

extension Set: UnorderedElements {
  var sizeOfUnorderedElement: Int? { 1 }
}

extension Dictionary: UnorderedElements {
  /// Keys that are texts or whole numbers make an object, whose members are sorted anyway; any others stand in an
  /// array, each before its value.
  var sizeOfUnorderedElement: Int? { 2 }
}

extension Optional: UnorderedElements {
  var sizeOfUnorderedElement: Int? { (flatMap { $0 as? any UnorderedElements })?.sizeOfUnorderedElement }
}

extension JSONValue {
  /// An array with its elements, or groups of so many of them, in the order of their texts' bytes; anything else as it
  /// is.
  fileprivate func sorted(by size: Int) -> JSONValue {
    guard case .array(let elements) = self, elements.count.isMultiple(of: size) else { return self }
    let groups = stride(from: 0, to: elements.count, by: size).map { start in
      let group = elements[start..<start + size]
      return (text: StoredName(group.map { JSONText.canonical($0) }.joined(separator: ",")), group: group)
    }
    return .array(groups.sorted { $0.text < $1.text }.flatMap(\.group))
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
