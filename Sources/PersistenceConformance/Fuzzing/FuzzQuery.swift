public import PersistenceCore
import PersistenceDriverSupport

/// A request of a fuzzer's program, as plain data; it may be invalid.
public struct FuzzQuery: Sendable, Codable {
  /// The model's position in the program's schemas.
  public var model: Int
  /// The filter; nil for all rows.
  public var predicate: PredicateNode?
  /// The order, most significant criterion first.
  public var order: [FieldOrder]
  /// The maximum number of rows; nil for all.
  public var limit: Int?
  /// The number of rows to skip.
  public var offset: Int
  /// The values of the page's anchor; nil for none.
  public var after: [PersistentValue]?

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - model: The model's position in the program's schemas.
  ///   - predicate: The filter; nil for all rows.
  ///   - order: The order, most significant criterion first.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - offset: The number of rows to skip.
  ///   - after: The values of the page's anchor; nil for none.
  public init(
    _ model: Int, where predicate: PredicateNode? = nil, order: [FieldOrder] = [], limit: Int? = nil,
    offset: Int = 0, after: [PersistentValue]? = nil
  ) {
    self.model = model
    self.predicate = predicate
    self.order = order
    self.limit = limit
    self.offset = offset
    self.after = after
  }

  /// The request; a reader answers what it asks of related records, by record above a number of keys.
  func request(in schemas: [ModelSchema], fewKeys: Int, by reader: any StorageReader) throws -> FetchRequest {
    var answered = self
    if let predicate, predicate.hasRelations {
      answered.predicate = try RelationAnswers(reader, fewKeys: fewKeys).answer(predicate, on: schemas[model])
    }
    return try answered.request(in: schemas)
  }

  /// The query, sorted first by a field of related records.
  func query(in schemas: [ModelSchema], by related: RelatedField, isDescending: Bool) -> RelatedQuery {
    RelatedQuery(
      schemas[model], where: predicate,
      order: [.init(related, isDescending: isDescending)] + order.map { .init($0) }, limit: limit,
      offset: offset)
  }

  private func request(in schemas: [ModelSchema]) throws -> FetchRequest {
    try FetchRequest(
      schemas[model], where: predicate, order: order, limit: limit, offset: offset,
      after: after.map { PageAnchor($0) })
  }
}
