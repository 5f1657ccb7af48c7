import PersistenceCore
import PersistenceDriver

extension Optional where Wrapped == PredicateNode {
  /// Whether the predicate is trivially true.
  var isAlwaysTrue: Bool { self == nil || self == .constant(true) }

  /// Whether the predicate implies another one, judged by their conjuncts.
  func implies(_ other: PredicateNode?) -> Bool {
    if other.isAlwaysTrue || self == .constant(false) { return true }
    guard let node = self, let other else { return false }
    let mine = Set(node.conjuncts)
    return other.conjuncts.allSatisfy { mine.contains($0) }
  }
}

extension PredicateNode {
  /// The predicate for one key.
  static func key(_ key: RecordKey, in schema: ModelSchema) -> PredicateNode {
    let conditions = zip(schema.key, key.values).map { PredicateNode.comparison(field: $0, .equal, $1) }
    return .conjunction(of: conditions) ?? .all([])
  }
}
