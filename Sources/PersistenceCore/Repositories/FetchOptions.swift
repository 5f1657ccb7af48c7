public import PersistenceDriver

/// Which models a fetch yields, in what order, and which page of them.
public struct FetchOptions<Model: PersistentModel> {
  /// Which models; nil for all.
  public var predicate: PersistentPredicate<Model>?

  /// The order, most significant criterion first; ties are broken by primary key (contract O2).
  public var sorting: [SortCriterion<Model>]

  /// How many models at most, after filter, order and anchor; nil for all, 0 for none.
  public var limit: Int?

  /// How many models are passed over, after filter, order and anchor.
  public var offset: Int

  /// Models strictly after this one in the order only: the last one of the page before.
  public var after: Model?

  /// Where in the sources the fetch was asked for, for reports of results that are held for long.
  public var place: SourcePlace

  /// Makes options.
  ///
  /// - Parameters:
  ///   - predicate: Which models; nil for all.
  ///   - sorting: The order; by primary key where it is empty.
  ///   - limit: How many models at most.
  ///   - offset: How many models are passed over.
  ///   - after: Models strictly after this one only.
  ///   - fileID: The file of the call.
  ///   - line: The line of the call.
  public init(
    predicate: PersistentPredicate<Model>? = nil, sorting: [SortCriterion<Model>] = [], limit: Int? = nil,
    offset: Int = 0, after: Model? = nil, fileID: String = #fileID, line: UInt = #line
  ) {
    self.predicate = predicate
    self.sorting = sorting
    self.limit = limit
    self.offset = offset
    self.after = after
    place = SourcePlace(fileID: fileID, line: line)
  }
}

extension FetchOptions: Sendable where Model: Sendable {}

extension FetchOptions where Model: PersistentRecord {
  /// The request that drivers take.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` where a key path is no
  ///   stored property, and ``PersistenceError/Code/invalidRequest`` where the options make no sense.
  func request() throws -> FetchRequest {
    let schema = try Model.schema.model
    let order = sorting.map(\.fieldOrder)
    var anchor: PageAnchor?
    if let after {
      let total = try FetchRequest(schema, order: order).totalOrder
      let row = RowBuffer(count: schema.fields.count)
      try after.encode(into: row)
      anchor = PageAnchor(try row.withRow { try RowOrder(total, in: schema).key(of: $0) })
    }
    return try FetchRequest(
      schema, where: try predicate?.checkedNode(), order: order, limit: limit, offset: offset, after: anchor)
  }
}
