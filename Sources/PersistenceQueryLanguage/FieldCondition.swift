import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// Builds conditions on one field, and converts literals to the field's kind.
struct FieldCondition {
  let field: WhereField

  private var name: String { field.schema.name }
  private var kind: FieldKind { field.schema.kind }

  /// The field compared with a value.
  func comparison(_ comparison: ComparisonOperator, _ literal: WhereLiteral) throws -> PredicateNode {
    try requireOrder(comparison.isOrdering)
    if kind.isInteger, case .number(let text) = literal.kind, let number = ExactNumber(text),
      number.int64 == nil
    {
      return integerComparison(comparison, number)
    }
    return .comparison(field: name, comparison, try value(of: literal))
  }

  /// The field compared with another.
  func comparison(_ comparison: ComparisonOperator, with other: WhereField) throws -> PredicateNode {
    try requireOrder(comparison.isOrdering)
    guard other.schema.kind.tag == kind.tag else {
      throw WhereError(
        message: "“\(name)” (\(kind.rawValue)) cannot be compared with “\(other.schema.name)” "
          + "(\(other.schema.kind.rawValue)); enclose text in single quotes",
        position: other.position)
    }
    return .fieldComparison(left: name, comparison, right: other.schema.name)
  }

  /// The field between two values, inclusive.
  func between(_ lower: WhereLiteral, _ upper: WhereLiteral) throws -> PredicateNode {
    try requireOrder(true)
    guard kind.isInteger else {
      return .isBetween(field: name, lower: try value(of: lower), upper: try value(of: upper))
    }
    return .all([try comparison(.greaterOrEqual, lower), try comparison(.lessOrEqual, upper)])
  }

  /// The field equal to one of the values.
  func membership(_ literals: [WhereLiteral]) throws -> PredicateNode {
    let possible = literals.filter { literal in
      // No integer equals such a number.
      guard kind.isInteger, case .number(let text) = literal.kind else { return true }
      return ExactNumber(text)?.int64 != nil
    }
    return .isIn(field: name, try possible.map { try value(of: $0) })
  }

  /// A search in the field's text.
  func search(
    _ search: TextOperator, _ text: String, at position: Int, _ patterns: inout PatternBudget
  ) throws -> PredicateNode {
    guard kind.isText else {
      throw WhereError(
        message: "“\(name)” is \(kind.rawValue), not text, and cannot be searched", position: field.position)
    }
    do {
      try patterns.add(try TextMatcher(search, text, isCaseInsensitive: false))
    } catch let error as PersistenceError {
      throw WhereError(message: error.message, position: position)
    }
    return .text(field: name, search, text, isCaseInsensitive: false)
  }

  private func requireOrder(_ isOrdering: Bool) throws {
    guard !isOrdering || kind.isOrdered else {
      throw WhereError(
        message: "“\(name)” is a document, which supports = and != but has no order", position: field.position
      )
    }
  }

  /// Compares an integer field with a number that is not a 64-bit integer: uses the nearest equivalent integer, or a
  /// constant.
  private func integerComparison(_ comparison: ComparisonOperator, _ number: ExactNumber) -> PredicateNode {
    let isPresent = PredicateNode.comparison(field: name, .notEqual, .null)
    switch comparison {
    case .equal: return .constant(false)
    case .notEqual: return .constant(true)
    case .less, .lessOrEqual:
      if let floor = number.floor { return .comparison(field: name, .lessOrEqual, .integer(floor)) }
      return number.isNegative ? .constant(false) : isPresent
    case .greater, .greaterOrEqual:
      if let ceiling = number.ceiling {
        return .comparison(field: name, .greaterOrEqual, .integer(ceiling))
      }
      return number.isNegative ? isPresent : .constant(false)
    }
  }

  private func value(of literal: WhereLiteral) throws -> PersistentValue {
    switch literal.kind {
    case .text(let text):
      if kind == .string || kind == .url { return .text(text) }
      if let value = value(ofText: text) { return value }
    case .number(let text):
      if let value = try value(ofNumber: text, at: literal.position) { return value }
    case .bytes(let bytes): if kind == .data { return .bytes(bytes) }
    case .truth(let truth): if kind == .bool { return .bool(truth) }
    }
    throw WhereError(
      message: "“\(name)” is \(kind.rawValue) and cannot be compared with \(literal.noun); write \(example)",
      position: literal.position)
  }

  private func value(ofText text: String) -> PersistentValue? {
    switch kind {
    case .date, .uuid, .document: ValueReader.lenient.value(ofText: text, kind)
    case .double, .float: SpecialNumber.value(text).map { .double($0) }
    case .decimal: text == SpecialNumber.nan ? .decimal(.nan) : nil
    default: nil
    }
  }

  private func value(ofNumber text: String, at position: Int) throws -> PersistentValue? {
    guard let number = ExactNumber(text) else { return nil }
    switch kind {
    case .double, .float:
      guard let double = Double(text), double.isFinite, kind == .double || Float(double).isFinite else {
        throw WhereError(message: "\(text) exceeds the range of \(kind.rawValue)", position: position)
      }
      return .double(TotalOrder.normalized(kind == .float ? Double(Float(double)) : double))
    case .decimal:
      guard let decimal = number.decimal else {
        throw WhereError(message: "\(text) has more digits than a decimal can store", position: position)
      }
      return .decimal(decimal)
    default: return kind.isInteger ? number.int64.map { .integer($0) } : nil
    }
  }

  private var example: String {
    switch kind {
    case .bool: "true or false"
    case .string, .url: "a text in single quotes"
    case .data: "bytes as x'00ff'"
    case .date: "a date as '2001-12-31' or '2001-12-31T23:59:59Z'"
    case .uuid: "a UUID as '6ba7b810-9dad-11d1-80b4-00c04fd430c8'"
    case .document: "JSON in single quotes, as '{\"a\":1}'"
    default: "a number"
    }
  }
}

/// A literal in a condition, before its conversion to a field's kind.
struct WhereLiteral: Equatable {
  enum Kind: Equatable {
    case number(String)
    case text(String)
    case bytes([UInt8])
    case truth(Bool)
  }

  let kind: Kind
  /// The number of preceding scalars.
  let position: Int

  var noun: String {
    switch kind {
    case .number: "a number"
    case .text: "text"
    case .bytes: "bytes"
    case .truth: "a Boolean"
    }
  }
}

/// A field in a condition.
struct WhereField {
  let schema: FieldSchema
  /// The number of scalars before its name.
  let position: Int
}
