import PersistencePrimitives

/// A condition on a row, as a plain value for drivers to translate.
///
/// Fields have their stored names. Logic is two-valued (contract V6): a node is true or false, never unknown, and a
/// negation is true if and only if its operand is false.
public indirect enum PredicateNode: Sendable {
  /// Always true or always false.
  case constant(Bool)
  /// A field compared with a value.
  case comparison(field: String, ComparisonOperator, PersistentValue)
  /// A field compared with another field of the same kind.
  case fieldComparison(left: String, ComparisonOperator, right: String)
  /// The field equals one of the values. A nil value matches nil; a validated request has no nil values.
  case isIn(field: String, [PersistentValue])
  /// The field is between two bounds, inclusive; false if the field or a bound is nil.
  case isBetween(field: String, lower: PersistentValue, upper: PersistentValue)
  /// A search in a text field.
  case text(field: String, TextOperator, String, isCaseInsensitive: Bool)
  /// A condition on the part of a document at a path of member names, or on the whole document if the path is empty
  /// (contract V8).
  case document(field: String, path: [String], DocumentCondition)
  /// A condition on related records, which no request contains.
  case related(RelatedCondition)
  /// All conditions are true; true if there are none.
  case all([PredicateNode])
  /// At least one condition is true; false if there are none.
  case any([PredicateNode])
  /// The condition is false.
  case not(PredicateNode)
}

extension PredicateNode {
  /// The stored names of the fields in the condition, without duplicates, in order of appearance.
  public var fields: [String] {
    var names: [String] = []
    var seen: Set<StoredName> = []
    visit { node in
      let mentioned: [String]
      switch node {
      case .comparison(let field, _, _), .isIn(let field, _), .isBetween(let field, _, _),
        .text(let field, _, _, _), .document(let field, _, _):
        mentioned = [field]
      case .fieldComparison(let left, _, let right): mentioned = [left, right]
      case .related(let relation): mentioned = relation.side == .target ? [relation.field] : []
      case .constant, .all, .any, .not: mentioned = []
      }
      for name in mentioned where seen.insert(StoredName(name)).inserted { names.append(name) }
    }
    return names
  }

  /// Calls a closure with this node and all nodes below it, parents first.
  package func visit(_ body: (PredicateNode) throws -> Void) rethrows {
    try body(self)
    switch self {
    case .all(let nodes), .any(let nodes): for node in nodes { try node.visit(body) }
    case .not(let node): try node.visit(body)
    default: break
    }
  }

  /// The conditions that must all be true, with nested conjunctions flattened.
  package var conjuncts: [PredicateNode] {
    var nodes: [PredicateNode] = []
    forEachConjunct { nodes.append($0) }
    return nodes
  }

  /// Calls a closure for each of ``conjuncts``, in order.
  package func forEachConjunct(_ body: (PredicateNode) throws -> Void) rethrows {
    guard case .all(let nodes) = self else { return try body(self) }
    for node in nodes { try node.forEachConjunct(body) }
  }

  /// The conjunction of conditions; nil if there are none.
  package static func conjunction(of nodes: [PredicateNode]) -> PredicateNode? {
    nodes.count > 1 ? .all(nodes) : nodes.first
  }

  /// Both conditions, flattened if one is already a conjunction.
  package static func conjunction(_ left: PredicateNode, _ right: PredicateNode) -> PredicateNode {
    switch (left, right) {
    case (.all(let left), .all(let right)): .all(left + right)
    case (.all(let left), _): .all(left + [right])
    case (_, .all(let right)): .all([left] + right)
    default: .all([left, right])
    }
  }

  /// Either condition, flattened if one is already a disjunction.
  package static func disjunction(_ left: PredicateNode, _ right: PredicateNode) -> PredicateNode {
    switch (left, right) {
    case (.any(let left), .any(let right)): .any(left + right)
    case (.any(let left), _): .any(left + [right])
    case (_, .any(let right)): .any([left] + right)
    default: .any([left, right])
    }
  }
}

/// A comparison of a field with a value or with another field.
public enum ComparisonOperator: String, Sendable, Hashable, Codable, CaseIterable {
  /// Equal; nil equals nil.
  case equal = "=="
  /// Not equal.
  case notEqual = "!="
  /// Less; like every ordering, false if a side is nil (contract V6).
  case less = "<"
  /// Less or equal.
  case lessOrEqual = "<="
  /// Greater.
  case greater = ">"
  /// Greater or equal.
  case greaterOrEqual = ">="

  /// Whether the comparison depends on the order of its sides, not only on equality.
  package var isOrdering: Bool { self != .equal && self != .notEqual }

  /// Evaluates the comparison from the sign of the total order, and from which sides are nil.
  package func holds(leftIsNull: Bool, rightIsNull: Bool, order: @autoclosure () -> Int) -> Bool {
    if leftIsNull || rightIsNull {
      switch self {
      case .equal: return leftIsNull && rightIsNull
      case .notEqual: return leftIsNull != rightIsNull
      default: return false
      }
    }
    let order = order()
    return switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }
}

/// A search in the text of a field (contract V7); false if the field is nil.
public enum TextOperator: String, Sendable, Hashable, Codable, CaseIterable {
  /// The text contains the needle.
  case contains
  /// The text begins with the needle.
  case hasPrefix
  /// The text ends with the needle.
  case hasSuffix
  /// The whole text matches a pattern: `%` matches any scalars, `_` one scalar, and `\` escapes the next scalar.
  case like
  /// A regular expression matches part of the text. The documentation of text search describes the syntax.
  case matches
}

extension PredicateNode: CustomStringConvertible {
  /// The condition as text with its values, for debug logs.
  public var description: String { text { "\($0)" } }

  /// The condition as text with `?` for every value, for logs at any level.
  public var shape: String { text { _ in "?" } }

  private func text(_ value: (PersistentValue) -> String) -> String {
    switch self {
    case .constant(let truth): "\(truth)"
    case .comparison(let field, let comparison, let operand):
      "\(field) \(comparison.rawValue) \(value(operand))"
    case .fieldComparison(let left, let comparison, let right): "\(left) \(comparison.rawValue) \(right)"
    case .isIn(let field, let values): "\(field) in [\(values.map(value).joined(separator: ", "))]"
    case .isBetween(let field, let lower, let upper):
      "\(field) between \(value(lower)) and \(value(upper))"
    case .text(let field, let search, let needle, let isCaseInsensitive):
      "\(search.rawValue)(\(field), \(value(.text(needle)))\(isCaseInsensitive ? ", caseInsensitive" : ""))"
    case .document(let field, let path, let condition):
      condition.text(of: ([field] + path).joined(separator: "."), value)
    case .related(let relation): relation.text { $0.text(value) }
    case .all(let nodes): Self.joined(nodes, by: " && ", empty: "true", value)
    case .any(let nodes): Self.joined(nodes, by: " || ", empty: "false", value)
    case .not(let node): "!(\(node.text(value)))"
    }
  }

  private static func joined(
    _ nodes: [PredicateNode], by separator: String, empty: String, _ value: (PersistentValue) -> String
  ) -> String {
    nodes.isEmpty ? empty : "(" + nodes.map { $0.text(value) }.joined(separator: separator) + ")"
  }
}
