package import PersistenceDriver
import PersistencePrimitives

/// A query whose filter and order may ask of related records.
///
/// A reader answers these parts first, and then the rest is a request for a driver.
package struct RelatedQuery: Sendable, Hashable {
  /// The model.
  package let schema: ModelSchema
  /// The filter; nil for all records.
  package let predicate: PredicateNode?
  /// The order, most significant criterion first.
  package let order: [RelatedOrder.Criterion]
  /// The maximum number of records; nil for all.
  package var limit: Int?
  /// The number of records to skip.
  package var offset: Int

  package init(
    _ schema: ModelSchema, where predicate: PredicateNode? = nil, order: [RelatedOrder.Criterion] = [],
    limit: Int? = nil, offset: Int = 0
  ) {
    self.schema = schema
    self.predicate = predicate
    self.order = order
    self.limit = limit
    self.offset = offset
  }

  /// Whether an answer takes requests for related records.
  package var isRelated: Bool { predicate?.hasRelations == true || hasRelatedOrder }

  private var hasRelatedOrder: Bool { order.contains { $0.related != nil } }

  /// The order of the query's pages.
  ///
  /// - Throws: ``PersistenceError`` if the model lacks a field.
  package func pageOrder(by reader: any StorageReader, declared: [ModelSchema] = []) throws -> PageOrder {
    // The keys that a condition on related records finds do not belong to the query.
    let filter = predicate.map { "\($0)" } ?? ""
    if hasRelatedOrder {
      return try PageOrder(relatedOrder(reader, declared), of: schema, filter: filter)
    }
    guard predicate?.hasRelations != true else {
      return try PageOrder(FetchRequest(schema, order: order.map(\.order)), filter: filter)
    }
    let request = try FetchRequest(schema, where: predicate, order: order.map(\.order))
    return try PageOrder(request, filter: request.predicate?.description)
  }

  private func relatedOrder(
    _ reader: any StorageReader, _ declared: [ModelSchema], _ plans: RelationPlans? = nil
  ) throws -> RelatedOrder {
    try RelatedOrder(order, of: schema, reader, declared: declared, plans: plans)
  }

  /// The request for a driver, in which a reader has answered what the query asks of related records.
  ///
  /// - Parameters:
  ///   - reader: Reads the moment of the query.
  ///   - declared: The schemas as the query declares them; others are those of the store.
  ///   - anchor: The bookmark that the page begins after; nil for the first page.
  ///   - keyLimit: The maximum number of keys that a condition may find.
  ///   - plans: Collects how the requests for related records are answered.
  /// - Returns: The request.
  /// - Throws: ``PersistenceError``.
  package func answered(
    by reader: any StorageReader, declared: [ModelSchema] = [], after anchor: PageAnchor? = nil,
    keyLimit: Int = .max, plans: RelationPlans? = nil
  ) throws -> AnswerableRequest {
    var filter = predicate
    if let predicate, predicate.hasRelations {
      filter = try RelationAnswers(reader, declared: declared, keyLimit: keyLimit, plans: plans)
        .answer(predicate, on: schema)
    }
    guard hasRelatedOrder else {
      return AnswerableRequest(
        reader: reader,
        request: try FetchRequest(
          schema, where: filter, order: order.map(\.order), limit: limit, offset: offset, after: anchor))
    }
    // These two throw for a limit and an offset that no request can have.
    let whole = try FetchRequest(schema, where: filter)
    _ = try FetchRequest(schema, limit: limit, offset: offset)
    let keys = try relatedOrder(reader, declared, plans).keys(
      where: whole.predicate, after: anchor, offset: offset, limit: limit)
    let isPart = anchor != nil || offset > 0 || limit != nil
    return AnswerableRequest(
      reader: reader, request: isPart ? try FetchRequest(schema, where: schema.condition(keys)) : whole,
      keys: keys)
  }
}

extension RelatedQuery {
  /// How a reader answers the query; the requests for related records are made.
  ///
  /// - Parameters:
  ///   - reader: Reads the moment of the query.
  ///   - declared: The schemas as the query declares them; others are those of the store.
  ///   - anchor: The bookmark that the page begins after; nil for the first page.
  ///   - positions: The positions of the fields that are read; nil for all.
  /// - Returns: The plan.
  /// - Throws: ``PersistenceError``.
  package func plan(
    by reader: any StorageReader, declared: [ModelSchema] = [], after anchor: PageAnchor? = nil,
    selecting positions: [Int]? = nil
  ) throws -> QueryPlan {
    let plans = RelationPlans()
    let answered = try answered(by: reader, declared: declared, after: anchor, plans: plans)
    let request = answered.request
    var plan =
      try positions.map { try reader.plan(for: request, selecting: $0) } ?? reader.plan(for: request)
    plan.related = plans.all
    if hasRelatedOrder { plan.ordering = .sorted }
    return plan
  }
}

/// A request, and the reader that answers it.
package struct AnswerableRequest {
  package let reader: any StorageReader
  /// The request; with ``keys``, its filter is these keys, and it has no order.
  package let request: FetchRequest
  /// The keys of the records in order, if fields of related records decide the order.
  private let keys: [RecordKey]?

  package init(reader: any StorageReader, request: FetchRequest, keys: [RecordKey]? = nil) {
    self.reader = reader
    self.request = request
    self.keys = keys
  }

  /// The rows of the request.
  package func fetch(selecting positions: [Int]? = nil) throws -> any StorageResults {
    if let keys { return KeyedResults(keys, of: request.schema, selecting: positions, reader) }
    return if let positions { try reader.fetch(request, selecting: positions) } else {
      try reader.fetch(request)
    }
  }

  /// Counts the rows of the request.
  package func count() throws -> Int { try keys?.count ?? reader.count(request) }
}

extension ModelSchema {
  /// The condition that a record has one of some keys.
  fileprivate func condition(_ keys: [RecordKey]) -> PredicateNode {
    if key.count == 1 { return .isIn(field: key[0], keys.map { $0.values[0] }) }
    return .any(
      keys.map { record in
        .all(zip(key, record.values).map { .comparison(field: $0, .equal, $1) })
      })
  }
}
