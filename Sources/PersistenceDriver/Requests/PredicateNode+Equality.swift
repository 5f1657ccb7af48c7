import PersistencePrimitives

extension PredicateNode: Hashable {
  /// Whether two conditions have the same form.
  ///
  /// Names and texts are compared by their bytes (contract V3), so conditions that match different rows are never
  /// equal.
  public static func == (left: PredicateNode, right: PredicateNode) -> Bool { left.form == right.form }

  /// Hashes the condition.
  public func hash(into hasher: inout Hasher) { hasher.combine(form) }

  /// The condition with names and texts that compare by their bytes.
  private enum Form: Hashable {
    case constant(Bool)
    case comparison(StoredName, ComparisonOperator, PersistentValue)
    case fieldComparison(StoredName, ComparisonOperator, StoredName)
    case isIn(StoredName, [PersistentValue])
    case isBetween(StoredName, lower: PersistentValue, upper: PersistentValue)
    case text(StoredName, TextOperator, StoredName, isCaseInsensitive: Bool)
    case document(StoredName, [StoredName], DocumentCondition)
    case related(RelatedCondition)
    case all([PredicateNode])
    case any([PredicateNode])
    case not(PredicateNode)
  }

  private var form: Form {
    switch self {
    case .constant(let truth): .constant(truth)
    case .comparison(let field, let comparison, let value): .comparison(StoredName(field), comparison, value)
    case .fieldComparison(let left, let comparison, let right):
      .fieldComparison(StoredName(left), comparison, StoredName(right))
    case .isIn(let field, let values): .isIn(StoredName(field), values)
    case .isBetween(let field, let lower, let upper):
      .isBetween(StoredName(field), lower: lower, upper: upper)
    case .text(let field, let search, let needle, let isCaseInsensitive):
      .text(StoredName(field), search, StoredName(needle), isCaseInsensitive: isCaseInsensitive)
    case .document(let field, let path, let condition):
      .document(StoredName(field), path.map { StoredName($0) }, condition)
    case .related(let relation): .related(relation)
    case .all(let nodes): .all(nodes)
    case .any(let nodes): .any(nodes)
    case .not(let node): .not(node)
    }
  }
}
