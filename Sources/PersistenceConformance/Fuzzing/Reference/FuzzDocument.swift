import Foundation
import PersistenceCore

/// A JSON value, evaluated with Foundation's `Decimal` numbers (contract V8).
///
/// It shares no code with the evaluator of contexts. The generator makes only numbers that `Decimal` holds exactly.
indirect enum FuzzDocument {
  case null
  case truth(Bool)
  case number(Decimal)
  case text(String)
  case array([FuzzDocument])
  case object([(name: String, value: FuzzDocument)])

  /// Reads canonical JSON; nil if it is malformed.
  init?(_ text: String) {
    var reader = FuzzDocumentReader(scalars: Array(text.unicodeScalars))
    guard let value = reader.value(), reader.isAtEnd else { return nil }
    self = value
  }

  /// The part of a stored value at a path; null if it is missing.
  static func part(of value: PersistentValue, at path: [String]) -> FuzzDocument {
    guard case .document(let text) = value, var part = FuzzDocument(text) else { return .null }
    for name in path {
      guard case .object(let members) = part,
        let member = members.first(where: { FuzzValue.isSameName($0.name, name) })
      else { return .null }
      part = member.value
    }
    return part
  }

  /// The condition as a closure; nil if it is invalid.
  static func condition(_ condition: DocumentCondition) -> ((FuzzDocument) -> Bool)? {
    switch condition {
    case .comparison(let comparison, let operand):
      guard let value = self.operand(operand) else { return nil }
      return { $0.holds(comparison, value) }
    case .contains(let operand):
      guard let value = self.operand(operand) else { return nil }
      return { part in
        if case .array(let elements) = part { elements.contains { $0.isSame(as: value) } } else { false }
      }
    case .text(let search, let needle, let isCaseInsensitive):
      guard let search = FuzzText.search(search, needle, isCaseInsensitive: isCaseInsensitive) else {
        return nil
      }
      return { if case .text(let text) = $0 { search(text) } else { false } }
    }
  }

  private static func operand(_ value: PersistentValue) -> FuzzDocument? {
    switch value {
    case .null: .null
    case .document(let text): FuzzDocument(text)
    default: nil
    }
  }

  private func holds(_ comparison: ComparisonOperator, _ operand: FuzzDocument) -> Bool {
    switch comparison {
    case .equal: isSame(as: operand)
    case .notEqual: !isSame(as: operand)
    default: order(operand).map { comparison.holds($0) } ?? false
    }
  }

  private func isSame(as other: FuzzDocument) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.truth(let left), .truth(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.text(let left), .text(let right)): FuzzValue.isSameName(left, right)
    case (.array(let left), .array(let right)):
      left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
    case (.object(let left), .object(let right)):
      left.count == right.count
        && left.allSatisfy { member in
          right.contains { FuzzValue.isSameName($0.name, member.name) && $0.value.isSame(as: member.value) }
        }
    default: false
    }
  }

  /// The order of two values: below, equal to or above 0; nil if they have none.
  private func order(_ other: FuzzDocument) -> Int? {
    switch (self, other) {
    case (.truth(let left), .truth(let right)): (left ? 1 : 0) - (right ? 1 : 0)
    case (.number(let left), .number(let right)): left < right ? -1 : left == right ? 0 : 1
    case (.text(let left), .text(let right)):
      FuzzValue.isSameName(left, right) ? 0 : left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
    case (.text(let text), .number): Self.rank(text)
    case (.number, .text(let text)): Self.rank(text).map { -$0 }
    default: nil
    }
  }

  private static func rank(_ text: String) -> Int? { ["-Infinity": -1, "Infinity": 1, "NaN": 1][text] }
}

/// A reader of canonical JSON, which has no white space.
private struct FuzzDocumentReader {
  let scalars: [Unicode.Scalar]
  private var position = 0

  init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

  var isAtEnd: Bool { position == scalars.count }

  private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  mutating func value() -> FuzzDocument? {
    switch next {
    case "{":
      return list("}") { reader in
        guard let name = reader.string(), reader.skip(":"), let value = reader.value() else { return nil }
        return (name: name, value: value)
      }.map { .object($0) }
    case "[": return list("]") { $0.value() }.map { .array($0) }
    case "\"": return string().map { .text($0) }
    default: return word()
    }
  }

  private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    position += 1
    return true
  }

  private mutating func list<Item>(_ end: Unicode.Scalar, _ read: (inout FuzzDocumentReader) -> Item?)
    -> [Item]?
  {
    position += 1
    var items: [Item] = []
    if skip(end) { return items }
    repeat {
      guard let item = read(&self) else { return nil }
      items.append(item)
    } while skip(",")
    return skip(end) ? items : nil
  }

  private mutating func string() -> String? {
    let start = position
    guard skip("\"") else { return nil }
    while let scalar = next, scalar != "\"" { position += scalar == "\\" ? 2 : 1 }
    guard skip("\"") else { return nil }
    let text = String(String.UnicodeScalarView(scalars[start..<position]))
    return try? JSONDecoder().decode(String.self, from: Data(text.utf8))
  }

  private mutating func word() -> FuzzDocument? {
    let start = position
    while let scalar = next, ![",", "]", "}"].contains(scalar) { position += 1 }
    switch String(String.UnicodeScalarView(scalars[start..<position])) {
    case "null": return .null
    case "true": return .truth(true)
    case "false": return .truth(false)
    case let text:
      return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map { .number($0) }
    }
  }
}
