import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceQueryLanguage

extension FuzzTarget {
  /// The language of `--where` and of the parameter `where`.
  static let conditions = FuzzTarget(name: "where", seeds: Conditions.seeds) { bytes in
    guard let text = bytes.text else { return }
    let schema = try FuzzModels.everyKind()
    let node: PredicateNode
    do {
      node = try WhereParser.predicate(text, for: schema)
    } catch let error as WhereError {
      _ = error.explanation(of: text)
      return
    }
    let printed = try WhereText(schema).text(node)
    do {
      let again = try WhereParser.predicate(printed, for: schema)
      try require(again == node, "“\(printed)” has another meaning than what it was printed from")
    } catch let error as WhereError {
      // Parentheses around the two parts of a `between` of integers are one level more.
      try require(error.message.contains("nested deeper"), "“\(printed)” cannot be parsed: \(error.message)")
    }
    try Conditions.evaluate(node, schema)
  }
}

enum Conditions {
  /// Evaluates a condition on each record.
  static func evaluate(_ node: PredicateNode, _ schema: ModelSchema) throws {
    guard let request = try accepted(PersistenceError.self, { try FetchRequest(schema, where: node) }) else {
      return
    }
    _ = (request.shape, request.description)
    let compiled = try CompiledPredicate(request.predicate, in: schema)
    try FuzzModels.forEachRow { row in
      do {
        _ = try compiled.matches(row)
      } catch let error as PersistenceError where error.code == .patternTooSlow {
        // A pattern may be stopped (contract V7).
      }
    }
  }

  @Sendable fileprivate static func seeds() throws -> [[UInt8]] {
    [
      #"id = 5 and not ("is new" or string like 'A%\_' and double < -1.5e3)"#,
      "string is not null and date >= '2001-12-31T23:59:59Z' or uuid = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'",
      "decimal not between -1 and 2.50 and int8 between 1.5 and 300", "data in (x'00ff', x'') or 3 < uint32",
      "matches(string, '^(a|[^b-d])+\\d{2,3}?$') and contains(url, 'it''s')", "document = '{\"a\":[1,null]}'",
      "float = 'NaN' or double != 'Infinity' or int16 <= int64", "id in () or true and false",
      "starts(string, 'é') and ends(string, '') and bool = false",
    ].map { Array($0.utf8) }
  }
}

/// Prints conditions in the language that they were parsed from.
struct WhereText {
  let schema: ModelSchema

  init(_ schema: ModelSchema) { self.schema = schema }

  func text(_ node: PredicateNode) throws -> String {
    switch node {
    case .constant(let truth): return "\(truth)"
    case .comparison(let field, .equal, .null): return "\(FieldNames.quoted(field)) is null"
    case .comparison(let field, .notEqual, .null): return "\(FieldNames.quoted(field)) is not null"
    case .comparison(let field, let comparison, let value):
      return "\(FieldNames.quoted(field)) \(comparison.rawValue) \(literal(value))"
    case .fieldComparison(let left, let comparison, let right):
      return "\(FieldNames.quoted(left)) \(comparison.rawValue) \(FieldNames.quoted(right))"
    case .isIn(let field, let values):
      return "\(FieldNames.quoted(field)) in (\(values.map(literal).joined(separator: ", ")))"
    case .isBetween(let field, let lower, let upper):
      return "\(FieldNames.quoted(field)) between \(literal(lower)) and \(literal(upper))"
    case .text(let field, .like, let pattern, _):
      return "\(FieldNames.quoted(field)) like \(literal(.text(pattern)))"
    case .text(let field, let search, let needle, _):
      return "\(try function(search))(\(FieldNames.quoted(field)), \(literal(.text(needle))))"
    case .all(let nodes): return try nodes.map(part).joined(separator: " and ")
    case .any(let nodes): return try nodes.map(part).joined(separator: " or ")
    case .not(let node): return "not \(try part(node))"
    case .related: throw FuzzFailure(description: "no request has conditions on related records")
    case .document: throw FuzzFailure(description: "the language has no conditions on parts of documents")
    }
  }

  private func part(_ node: PredicateNode) throws -> String {
    switch node {
    case .all, .any: "(\(try text(node)))"
    default: try text(node)
    }
  }

  private func function(_ search: TextOperator) throws -> String {
    switch search {
    case .contains: "contains"
    case .hasPrefix: "starts"
    case .hasSuffix: "ends"
    case .matches: "matches"
    case .like: throw FuzzFailure(description: "like is not a function")
    }
  }

  private func literal(_ value: PersistentValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let truth): "\(truth)"
    case .integer(let number): "\(number)"
    case .double(let number) where number.isFinite: "\(number)"
    case .decimal(let number) where !number.isNaN: number.canonicalText
    case .bytes(let bytes): "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    case .text(let text), .document(let text): quoted(text)
    case .double: quoted(ValueWriter.text(value, .double))
    case .date: quoted(ValueWriter.text(value, .date))
    case .uuid: quoted(ValueWriter.text(value, .uuid))
    case .decimal: quoted(ValueWriter.text(value, .decimal))
    }
  }

  private func quoted(_ text: String) -> String {
    var quoted = "'".unicodeScalars
    for scalar in text.unicodeScalars {
      if scalar == "'" { quoted.append(scalar) }
      quoted.append(scalar)
    }
    quoted.append("'")
    return String(quoted)
  }
}
