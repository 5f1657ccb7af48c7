import PersistencePrimitives

/// A condition on a row, as a plain value that a context's author can walk.
///
/// Fields are named by their stored names. Logic is two-valued, as contract V6 says: no node is ever
/// "unknown", so a negation is true exactly where what it negates is false.
public indirect enum PredicateNode: Sendable, Codable {
  /// Always true or always false.
  case constant(Bool)
  /// A field compared with a value.
  case comparison(field: String, ComparisonOperator, PersistentValue)
  /// A field compared with another field of the same kind.
  case fieldComparison(left: String, ComparisonOperator, right: String)
  /// The field equals one of the values; nil among the values finds nil. In a checked request none is nil.
  case isIn(field: String, [PersistentValue])
  /// The field lies between two bounds, both included; false where the field or a bound is nil.
  case isBetween(field: String, lower: PersistentValue, upper: PersistentValue)
  /// A search in the field's text.
  case text(field: String, TextOperator, String, isCaseInsensitive: Bool)
  /// All are true; true where there are none.
  case all([PredicateNode])
  /// At least one is true; false where there are none.
  case any([PredicateNode])
  /// The node is false.
  case not(PredicateNode)
}

extension PredicateNode {
  /// The stored names of all fields that the condition reads, each once, in order of appearance.
  public var fields: [String] {
    var names: [String] = []
    var seen: Set<StoredName> = []
    visit { node in
      let mentioned: [String]
      switch node {
      case .comparison(let field, _, _), .isIn(let field, _), .isBetween(let field, _, _),
        .text(let field, _, _, _):
        mentioned = [field]
      case .fieldComparison(let left, _, let right): mentioned = [left, right]
      case .constant, .all, .any, .not: mentioned = []
      }
      for name in mentioned where seen.insert(StoredName(name)).inserted { names.append(name) }
    }
    return names
  }

  /// Calls a closure for this node and every node below it, parents first.
  public func visit(_ body: (PredicateNode) throws -> Void) rethrows {
    try body(self)
    switch self {
    case .all(let nodes), .any(let nodes): for node in nodes { try node.visit(body) }
    case .not(let node): try node.visit(body)
    default: break
    }
  }

  /// Both conditions, flattened where one is already a conjunction.
  public static func conjunction(_ left: PredicateNode, _ right: PredicateNode) -> PredicateNode {
    switch (left, right) {
    case (.all(let left), .all(let right)): .all(left + right)
    case (.all(let left), _): .all(left + [right])
    case (_, .all(let right)): .all([left] + right)
    default: .all([left, right])
    }
  }

  /// Either condition, flattened where one is already a disjunction.
  public static func disjunction(_ left: PredicateNode, _ right: PredicateNode) -> PredicateNode {
    switch (left, right) {
    case (.any(let left), .any(let right)): .any(left + right)
    case (.any(let left), _): .any(left + [right])
    case (_, .any(let right)): .any([left] + right)
    default: .any([left, right])
    }
  }
}
