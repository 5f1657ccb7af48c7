package import PersistenceDriver
import PersistenceDriverSupport

/// The options of a fetch: filter, order and page.
public struct FetchOptions<Model: PersistentModel> {
  /// The filter.
  ///
  /// It is not optional, because `.none` would be ambiguous: no filter, or no match.
  public var predicate: PersistentPredicate<Model>

  /// The order, most significant criterion first; the primary key breaks ties (contract O2).
  public var sorting: [SortCriterion<Model>]

  /// The maximum number of models, after filter, order and anchor; nil for all, 0 for none.
  public var limit: Int?

  /// The number of models to skip, after filter, order and anchor.
  public var offset: Int

  /// The model that the page begins strictly after, such as the last one of the previous page.
  public var after: Model?

  /// The token that the page begins strictly after; it takes precedence over ``after``.
  ///
  /// Models of other frameworks do not support tokens.
  public var token: PageToken?

  /// The call site of the fetch, for reports of long-held results.
  @usableFromInline package var place: CallSite

  /// Creates options.
  ///
  /// - Parameters:
  ///   - predicate: The filter; all models by default.
  ///   - sorting: The order; by primary key if empty.
  ///   - limit: The maximum number of models.
  ///   - offset: The number of models to skip.
  ///   - after: The model that the page begins strictly after.
  ///   - fileID: The file of the call.
  ///   - line: The line of the call.
  public init(
    predicate: PersistentPredicate<Model> = .all, sorting: [SortCriterion<Model>] = [], limit: Int? = nil,
    offset: Int = 0, after: Model? = nil, fileID: String = #fileID, line: UInt = #line
  ) {
    self.predicate = predicate
    self.sorting = sorting
    self.limit = limit
    self.offset = offset
    self.after = after
    place = CallSite(fileID: fileID, line: line)
  }
}

extension FetchOptions: Sendable where Model: Sendable {}

extension FetchOptions where Model: PersistentRecord {
  /// The request for drivers.
  func request(in context: any StorageContext) throws -> FetchRequest {
    try request(at: context.location)
  }

  /// The request for drivers, for the store at a location, which must be that of a page token.
  ///
  /// - Parameter location: The location.
  /// - Returns: The request.
  /// - Throws: ``PersistenceError``.
  package func request(at location: String) throws -> FetchRequest {
    guard let token else { return try fetchRequest() }
    return try request {
      try token.anchor(for: $0.identifyingText, model: $0.schema.name, location: location)
    }
  }

  /// The request for drivers, from options without a page token.
  package func fetchRequest() throws -> FetchRequest {
    try request { whole in try after.map { try Self.anchor(of: $0, in: whole) } }
  }

  /// The request with an anchor in the order of the request without one.
  private func request(after anchor: (FetchRequest) throws -> PageAnchor?) throws -> FetchRequest {
    let whole: FetchRequest
    do {
      whole = try FetchRequest(
        Model.schema.model, where: try predicate.requestedNode(), order: sorting.map { $0.fieldOrder },
        limit: limit, offset: offset)
    } catch let error as PersistenceError where error.code == .unknownField {
      // No field has the name of a criterion over a related record.
      for criterion in sorting {
        if let related = criterion.related {
          throw PersistenceError.relatedOrder(related, of: "\(Model.self)")
        }
      }
      throw error
    }
    guard let anchor = try anchor(whole) else { return whole }
    return try FetchRequest(
      whole.schema, where: whole.predicate, order: whole.order, limit: limit, offset: offset, after: anchor)
  }

  /// The anchor of a record in a request's order.
  static func anchor(of model: Model, in request: FetchRequest) throws -> PageAnchor {
    let row = RowBuffer(count: request.schema.fields.count)
    try model.encode(into: row)
    return PageAnchor(try row.withRow { try RowOrder(request.totalOrder, in: request.schema).key(of: $0) })
  }
}

extension PersistenceError {
  /// An order by a field of a related record, in a place that knows one model only.
  fileprivate static func relatedOrder(_ related: RelatedField, of model: String) -> PersistenceError {
    PersistenceError(
      .unsupported,
      "sorting by “\(related.path)”, a field of a related record, is done by the repository of a store, and by no other "
        + "data source", model: model, field: related.reference)
  }
}
