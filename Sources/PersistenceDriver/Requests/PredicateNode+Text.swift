extension PredicateNode: CustomStringConvertible {
  /// The condition as text, with its values: for people and debug logs.
  public var description: String { text { "\($0)" } }

  /// The condition as text with `?` for every value: its shape, which may be logged at any level.
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
