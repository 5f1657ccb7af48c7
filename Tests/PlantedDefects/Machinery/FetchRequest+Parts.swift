import PersistenceCore

extension FetchRequest {
  /// The parts of a request, as variables.
  struct Parts {
    var schema: ModelSchema
    var predicate: PredicateNode?
    var order: [FieldOrder]
    var limit: Int?
    var offset: Int
    var after: PageAnchor?
  }

  /// Returns the request with some of its parts changed.
  func with(_ change: (inout Parts) -> Void) throws -> FetchRequest {
    var parts = Parts(
      schema: schema, predicate: predicate, order: order, limit: limit, offset: offset, after: after)
    change(&parts)
    return try FetchRequest(
      parts.schema, where: parts.predicate, order: parts.order, limit: parts.limit, offset: parts.offset,
      after: parts.after)
  }

  /// Returns the request with every leaf of its predicate changed.
  func mappingLeaves(_ change: (PredicateNode) -> PredicateNode) throws -> FetchRequest {
    guard predicate != nil else { return self }
    return try with { $0.predicate = $0.predicate?.mapped(change) }
  }
}

extension PredicateNode {
  /// Returns the predicate with every leaf changed.
  func mapped(_ change: (PredicateNode) -> PredicateNode) -> PredicateNode {
    switch self {
    case .all(let nodes): .all(nodes.map { $0.mapped(change) })
    case .any(let nodes): .any(nodes.map { $0.mapped(change) })
    case .not(let node): .not(node.mapped(change))
    default: change(self)
    }
  }
}
