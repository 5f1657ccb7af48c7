import PersistenceDriver

/// What one condition says about one field, where ranges of keys can say the same.
enum FieldConstraint {
  /// The field is one of these values, which are sorted and differ from each other.
  case points([PersistentValue])
  /// The field is not nil, and lies between bounds.
  case bounds(lower: AccessPlan.Bound?, upper: AccessPlan.Bound?)
  /// The field's text begins with a prefix.
  case prefix(String)

  /// The constraint that a condition is exactly, and the field that it is about; nil where it is none.
  static func of(_ node: PredicateNode) -> (field: String, constraint: FieldConstraint)? {
    switch node {
    case .comparison(let field, let comparison, let value): of(field, comparison, value)
    case .isIn(let field, let values): (field, .points(distinct(values.filter { !$0.isNull })))
    case .isBetween(let field, let lower, let upper):
      lower.isNull || upper.isNull
        ? (field, .points([]))
        : (
          field,
          .bounds(
            lower: AccessPlan.Bound(lower, isInclusive: true),
            upper: AccessPlan.Bound(upper, isInclusive: true))
        )
    case .text(let field, .hasPrefix, let needle, false): (field, .prefix(needle))
    case .any(let nodes): union(nodes)
    case .all(let nodes) where nodes.count == 1: of(nodes[0])
    case .constant, .fieldComparison, .text, .all, .not: nil
    }
  }

  private static func of(_ field: String, _ comparison: ComparisonOperator, _ value: PersistentValue)
    -> (field: String, constraint: FieldConstraint)?
  {
    switch comparison {
    case .equal: return (field, .points([value]))
    case .notEqual:
      return value.isNull
        ? (field, .bounds(lower: AccessPlan.Bound(.null, isInclusive: false), upper: nil)) : nil
    case _ where value.isNull: return (field, .points([]))
    case .less: return (field, .bounds(lower: nil, upper: AccessPlan.Bound(value, isInclusive: false)))
    case .lessOrEqual: return (field, .bounds(lower: nil, upper: AccessPlan.Bound(value, isInclusive: true)))
    case .greater: return (field, .bounds(lower: AccessPlan.Bound(value, isInclusive: false), upper: nil))
    case .greaterOrEqual:
      return (field, .bounds(lower: AccessPlan.Bound(value, isInclusive: true), upper: nil))
    }
  }

  /// Alternatives that are all points of one field.
  private static func union(_ nodes: [PredicateNode]) -> (field: String, constraint: FieldConstraint)? {
    var field: String?
    var values: [PersistentValue] = []
    for node in nodes {
      guard let (name, constraint) = of(node), case .points(let points) = constraint,
        field.map({ StoredName($0) == StoredName(name) }) ?? true
      else { return nil }
      field = name
      values += points
    }
    return field.map { ($0, .points(distinct(values))) }
  }

  private static func distinct(_ values: [PersistentValue]) -> [PersistentValue] {
    var result: [PersistentValue] = []
    for value in values.sorted() where result.last != value { result.append(value) }
    return result
  }
}
