import Foundation
import PersistenceDriver
import PersistencePrimitives

/// The shape of a value in a file, from which inference finds the kind of the field.
enum ValueShape: Int, CaseIterable, Hashable {
  case null, bool, integer, largeInteger, fraction, specialNumber, numberText, uuid, date, text, document

  var plural: String {
    switch self {
    case .null: "nulls"
    case .bool: "Booleans"
    case .integer: "integers"
    case .largeInteger: "integers over 64 bits"
    case .fraction: "fractions"
    case .specialNumber: "NaN or infinities"
    case .numberText: "numbers as text"
    case .uuid: "UUIDs"
    case .date: "dates"
    case .text: "texts"
    case .document: "objects or arrays"
    }
  }

  init(_ value: SourceValue) {
    switch value {
    case .json(.null): self = .null
    case .json(.bool): self = .bool
    case .json(.number(let text)): self = Self.numberShape(text)
    case .json(.string(let text)): self = Self.text(text)
    case .json(.array), .json(.object): self = .document
    case .cell("true"), .cell("false"): self = .bool
    case .cell(let text): self = Self.isNumber(text) ? Self.numberShape(text) : Self.text(text)
    }
  }

  private static func numberShape(_ text: String) -> ValueShape {
    guard !text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }) else {
      return .fraction
    }
    return Int64(text) == nil ? .largeInteger : .integer
  }

  /// Whether text is a JSON number; `007` and `+1` are not.
  private static func isNumber(_ text: String) -> Bool {
    guard let first = text.utf8.first, first == UInt8(ascii: "-") || isDigit(first) else { return false }
    guard case .number = try? JSONParser.parse(text) else { return false }
    return text.utf8.last.map(isDigit) ?? false
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func text(_ text: String) -> ValueShape {
    if SpecialNumber.value(text) != nil { return .specialNumber }
    if text.utf8.count == 36, UUID(uuidString: text)?.uuidString == text { return .uuid }
    if text.utf8.last == UInt8(ascii: "Z") || text.utf8.first == UInt8(ascii: "@"),
      let seconds = DateText.seconds(text), DateText.text(seconds) == text
    {
      return .date
    }
    return isNumber(text) ? .numberText : .text
  }
}
