public import PersistenceCore

/// A request of a fuzzer's program, as plain data: it may be one that every context must refuse.
public struct FuzzQuery: Sendable, Codable {
  /// The model's position among the program's schemas.
  public var model: Int
  /// Which rows; nil for all.
  public var predicate: PredicateNode?
  /// The order, most significant criterion first.
  public var order: [FieldOrder]
  /// How many rows at most; nil for all.
  public var limit: Int?
  /// How many rows are passed over.
  public var offset: Int
  /// The values of the page's anchor; nil for none.
  public var after: [PersistentValue]?

  /// Makes a request.
  ///
  /// - Parameters:
  ///   - model: The model's position among the program's schemas.
  ///   - predicate: Which rows; nil for all.
  ///   - order: The order, most significant criterion first.
  ///   - limit: How many rows at most; nil for all.
  ///   - offset: How many rows are passed over.
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

  /// The request as a context is given it.
  func request(in schemas: [ModelSchema]) throws -> FetchRequest {
    try FetchRequest(
      schemas[model], where: predicate, order: order, limit: limit, offset: offset,
      after: after.map { PageAnchor($0) })
  }
}
