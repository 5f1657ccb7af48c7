package import PersistenceDriver

/// Collects how a reader answers the requests for related records, in the order in which it is asked.
package final class RelationPlans {
  package private(set) var all: [RelatedPlan] = []

  package init() {}

  /// Adds the request that answered a condition.
  func add(
    _ relation: RelatedCondition, _ keys: Int, isByRecord: Bool = false, _ request: FetchRequest,
    selecting field: String, _ reader: any StorageReader
  ) throws {
    try add(
      PredicateNode.related(relation).shape, keys, isByRecord: isByRecord, request, selecting: field, reader)
  }

  /// Adds a request, with what it is for.
  func add(
    _ relation: String, _ keys: Int, isByRecord: Bool = false, _ request: FetchRequest,
    selecting field: String, _ reader: any StorageReader
  ) throws {
    let position = try request.schema.requiredPosition(of: field)
    all.append(
      RelatedPlan(
        relation, keys: keys, isByRecord: isByRecord,
        plan: try reader.plan(for: request, selecting: [position])))
  }
}
