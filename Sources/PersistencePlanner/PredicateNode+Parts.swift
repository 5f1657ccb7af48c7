package import PersistenceDriver

extension PredicateNode {
  /// The conditions that all have to hold, as far as they are apart.
  private var conjuncts: [PredicateNode] {
    if case .all(let nodes) = self { nodes.flatMap { $0.conjuncts } } else { [self] }
  }

  /// The condition in two parts which must both hold: the one that reads only fields that are at hand, and the rest.
  ///
  /// - Parameter isAtHand: Whether a field is, by its stored name.
  /// - Returns: The parts; nil where one asks nothing.
  package func parts(_ isAtHand: (String) -> Bool) -> (atHand: PredicateNode?, rest: PredicateNode?) {
    let conjuncts = conjuncts
    let near = conjuncts.filter { $0.fields.allSatisfy(isAtHand) }
    let rest = conjuncts.filter { !$0.fields.allSatisfy(isAtHand) }
    return (Self.joined(near), Self.joined(rest))
  }

  private static func joined(_ nodes: [PredicateNode]) -> PredicateNode? {
    nodes.count > 1 ? .all(nodes) : nodes.first
  }
}
