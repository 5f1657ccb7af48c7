import PersistenceDriver

/// The conditions of a request that all have to hold, taken apart by field.
struct Conjunction {
  struct Term {
    let node: PredicateNode
    let field: StoredName?
    let constraint: FieldConstraint?
  }

  private(set) var terms: [Term] = []
  /// Whether a condition is never true.
  private(set) var isImpossible = false

  init(_ predicate: PredicateNode?) {
    if let predicate { add(predicate) }
  }

  private mutating func add(_ node: PredicateNode) {
    switch node {
    case .constant(true): break
    case .constant(false): isImpossible = true
    case .all(let nodes): for node in nodes { add(node) }
    default:
      let found = FieldConstraint.of(node)
      if case .points(let values)? = found?.constraint, values.isEmpty { isImpossible = true }
      terms.append(
        Term(node: node, field: found.map { StoredName($0.field) }, constraint: found?.constraint))
    }
  }

  /// The one value that a field must have, where a condition says so.
  func constant(_ field: String) -> PersistentValue? {
    let name = StoredName(field)
    for term in terms where term.field == name {
      if case .points(let values)? = term.constraint, values.count == 1 { return values[0] }
    }
    return nil
  }

  /// The conditions but for some of them, as one.
  func node(without covered: Set<Int>) -> PredicateNode? {
    joined(terms.indices.filter { !covered.contains($0) })
  }

  /// Some of the conditions, as one.
  func node(only covered: Set<Int>) -> PredicateNode? { joined(covered.sorted()) }

  private func joined(_ indices: [Int]) -> PredicateNode? {
    switch indices.count {
    case 0: nil
    case 1: terms[indices[0]].node
    default: .all(indices.map { terms[$0].node })
    }
  }
}
