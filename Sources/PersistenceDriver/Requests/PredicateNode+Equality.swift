import PersistencePrimitives

extension PredicateNode: Hashable {
  /// Whether two conditions have the same form.
  ///
  /// Names and texts are compared by their bytes (contract V3), so conditions that match different rows are never
  /// equal.
  public static func == (left: PredicateNode, right: PredicateNode) -> Bool {
    switch (left, right) {
    case (.constant(let left), .constant(let right)): left == right
    case (.comparison(let field, let comparison, let value), .comparison(let other, let sign, let operand)):
      comparison == sign && isSame(field, other) && value == operand
    case (
      .fieldComparison(let first, let comparison, let second), .fieldComparison(let left, let sign, let right)
    ):
      comparison == sign && isSame(first, left) && isSame(second, right)
    case (.isIn(let field, let values), .isIn(let other, let list)): isSame(field, other) && values == list
    case (.isBetween(let field, let lower, let upper), .isBetween(let other, let least, let greatest)):
      isSame(field, other) && lower == least && upper == greatest
    case (
      .text(let field, let search, let needle, let isCaseInsensitive),
      .text(let other, let sought, let text, let ignoresCase)
    ):
      search == sought && isCaseInsensitive == ignoresCase && isSame(field, other) && isSame(needle, text)
    case (.all(let nodes), .all(let others)), (.any(let nodes), .any(let others)): nodes == others
    case (.not(let node), .not(let other)): node == other
    default: false
    }
  }

  /// Hashes the condition.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .constant(let truth):
      hasher.combine(0)
      hasher.combine(truth)
    case .comparison(let field, let comparison, let value):
      hasher.combine(1)
      hasher.combine(StoredName(field))
      hasher.combine(comparison)
      hasher.combine(value)
    case .fieldComparison(let left, let comparison, let right):
      hasher.combine(2)
      hasher.combine(StoredName(left))
      hasher.combine(comparison)
      hasher.combine(StoredName(right))
    case .isIn(let field, let values):
      hasher.combine(3)
      hasher.combine(StoredName(field))
      hasher.combine(values)
    case .isBetween(let field, let lower, let upper):
      hasher.combine(4)
      hasher.combine(StoredName(field))
      hasher.combine(lower)
      hasher.combine(upper)
    case .text(let field, let search, let needle, let isCaseInsensitive):
      hasher.combine(5)
      hasher.combine(StoredName(field))
      hasher.combine(search)
      hasher.combine(StoredName(needle))
      hasher.combine(isCaseInsensitive)
    case .all(let nodes):
      hasher.combine(6)
      hasher.combine(nodes)
    case .any(let nodes):
      hasher.combine(7)
      hasher.combine(nodes)
    case .not(let node):
      hasher.combine(8)
      hasher.combine(node)
    }
  }

  private static func isSame(_ left: String, _ right: String) -> Bool {
    StoredName(left) == StoredName(right)
  }
}
