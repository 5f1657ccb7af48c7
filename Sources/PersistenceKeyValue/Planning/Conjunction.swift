package import PersistenceDriver

/// The conditions of a request that all have to hold, split by field.
struct Conjunction {
  struct Term {
    let node: PredicateNode
    let field: StoredName?
    let constraint: FieldConstraint?
  }

  private(set) var terms: [Term] = []
  /// Whether no row can match.
  private(set) var isImpossible = false

  init(_ predicate: PredicateNode?) {
    predicate?.forEachConjunct { add($0) }
  }

  private mutating func add(_ node: PredicateNode) {
    switch node {
    case .constant(true): break
    case .constant(false): isImpossible = true
    default:
      let found = FieldConstraint.of(node)
      if case .points(let values)? = found?.constraint, values.isEmpty { isImpossible = true }
      terms.append(
        Term(node: node, field: found.map { StoredName($0.field) }, constraint: found?.constraint))
    }
  }

  /// The only value that the conditions allow a field to have; nil if there are others.
  func constant(_ field: String) -> PersistentValue? {
    let name = StoredName(field)
    for term in terms where term.field == name {
      if case .points(let values)? = term.constraint, values.count == 1 { return values[0] }
    }
    return nil
  }

  /// The conditions except for some, as one predicate.
  func node(without covered: Set<Int>) -> PredicateNode? {
    joined(terms.indices.filter { !covered.contains($0) })
  }

  /// Some of the conditions, as one predicate.
  func node(only covered: Set<Int>) -> PredicateNode? { joined(covered.sorted()) }

  private func joined(_ indices: [Int]) -> PredicateNode? {
    .conjunction(of: indices.map { terms[$0].node })
  }
}

/// A condition on one field that key ranges can express.
enum FieldConstraint {
  /// The field equals one of these values, which are sorted and distinct.
  case points([PersistentValue])
  /// The field is not nil and lies between bounds.
  case bounds(lower: AccessPlan.Bound?, upper: AccessPlan.Bound?)
  /// The field's text begins with a prefix.
  case prefix(String)

  /// The constraint that is equivalent to a condition, with its field; nil if there is none.
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
    case .constant, .fieldComparison, .text, .document, .related, .all, .not: nil
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

  /// A disjunction of equalities on one field.
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

extension PredicateNode {
  /// Splits the condition into a part that reads only available fields, and the rest; both have to hold.
  package func parts(_ isAvailable: (String) -> Bool) -> (available: PredicateNode?, rest: PredicateNode?) {
    let conjuncts = conjuncts
    let available = conjuncts.filter { $0.fields.allSatisfy(isAvailable) }
    let rest = conjuncts.filter { !$0.fields.allSatisfy(isAvailable) }
    return (.conjunction(of: available), .conjunction(of: rest))
  }
}
