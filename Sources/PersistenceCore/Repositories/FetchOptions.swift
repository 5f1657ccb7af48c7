public import PersistenceDriver
import PersistenceDriverSupport

/// Which models a fetch yields, in what order, and which page of them.
public struct FetchOptions<Model: PersistentModel> {
  /// Which models.
  ///
  /// It is not optional, since `.none` would mean none where nobody fits is meant, and all where there is no condition.
  public var predicate: PersistentPredicate<Model>

  /// The order, most significant criterion first; ties are broken by primary key (contract O2).
  public var sorting: [SortCriterion<Model>]

  /// How many models at most, after filter, order and anchor; nil for all, 0 for none.
  public var limit: Int?

  /// How many models are passed over, after filter, order and anchor.
  public var offset: Int

  /// Models strictly after this one in the order only: the last one of the page before.
  public var after: Model?

  /// Models strictly after the place where a page of the same query ended only; it counts instead of ``after``.
  ///
  /// Models of other frameworks have no tokens.
  public var token: PageToken?

  /// Where in the sources the fetch was asked for, for reports of results that are held for long.
  public var place: CallSite

  /// Makes options.
  ///
  /// - Parameters:
  ///   - predicate: Which models; all by default.
  ///   - sorting: The order; by primary key where it is empty.
  ///   - limit: How many models at most.
  ///   - offset: How many models are passed over.
  ///   - after: Models strictly after this one only.
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
  /// The request that drivers take.
  ///
  /// - Parameter context: The store, which a page token must be of.
  /// - Returns: The request.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` where a key path is no
  ///   stored property, ``PersistenceError/Code/invalidRequest`` where the options make no sense, and
  ///   ``PersistenceError/Code/incompatibleContext`` where the token is another store's.
  func request(in context: any StorageContext) throws -> FetchRequest {
    try request(at: context.location)
  }

  /// The request that drivers take, for a store at a place.
  ///
  /// - Parameter location: Where the store is that a page token must be of.
  /// - Returns: The request.
  /// - Throws: As ``request(in:)``.
  package func request(at location: String) throws -> FetchRequest {
    let whole = try wholeRequest()
    var anchor: PageAnchor?
    if let token {
      anchor = try token.anchor(for: whole, location: location)
    } else if let after {
      anchor = try Self.anchor(of: after, in: whole)
    }
    guard let anchor else { return whole }
    return try FetchRequest(
      whole.schema, where: whole.predicate, order: whole.order, limit: limit, offset: offset, after: anchor)
  }

  /// The request that drivers take, of options without a page token.
  ///
  /// - Throws: ``PersistenceError`` as ``request(in:)`` does.
  package func fetchRequest() throws -> FetchRequest {
    let whole = try wholeRequest()
    guard let after else { return whole }
    return try FetchRequest(
      whole.schema, where: whole.predicate, order: whole.order, limit: limit, offset: offset,
      after: try Self.anchor(of: after, in: whole))
  }

  /// The request without a place to begin after.
  private func wholeRequest() throws -> FetchRequest {
    try FetchRequest(
      Model.schema.model, where: try predicate.requestedNode(), order: sorting.map { $0.fieldOrder },
      limit: limit, offset: offset)
  }

  /// The place of a record in a request's order.
  static func anchor(of model: Model, in request: FetchRequest) throws -> PageAnchor {
    let row = RowBuffer(count: request.schema.fields.count)
    try model.encode(into: row)
    return PageAnchor(try row.withRow { try RowOrder(request.totalOrder, in: request.schema).key(of: $0) })
  }
}
