import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP

extension StoreService {
  /// The request of a query and the order of its pages; a query that asks of related records reads one moment.
  func answerable(_ query: WireQuery, limit: Int? = nil) throws -> (
    request: AnswerableRequest, order: PageOrder
  ) {
    let reader = try reader(isRelated: query.query.isRelated || !query.inclusions.isEmpty)
    var asked = query.query
    if let limit { asked.limit = limit }
    let order = try asked.pageOrder(by: reader, declared: declared)
    let request = try asked.answered(
      by: reader, declared: declared, after: query.anchor(in: order), keyLimit: limits.relatedKeys)
    return (request, order)
  }

  /// Counts the records of a query.
  func count(_ query: RelatedQuery) throws -> Int {
    let reader = try reader(isRelated: query.isRelated)
    return try query.answered(by: reader, declared: declared, keyLimit: limits.relatedKeys).count()
  }

  private func reader(isRelated: Bool) throws -> any StorageReader {
    if isRelated { return try context.snapshot() }
    return context
  }
}
