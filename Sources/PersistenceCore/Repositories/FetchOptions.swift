package import PersistenceDriver
package import PersistenceDriverSupport

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
  /// The request for drivers, for the store at a location, which must be that of a page token.
  ///
  /// - Parameter location: The location.
  /// - Returns: The request.
  /// - Throws: ``PersistenceError``.
  package func request(at location: String) throws -> FetchRequest {
    try RequestOptions.of(self).request(at: location)
  }

  /// The request for drivers, from options without a page token.
  package func fetchRequest() throws -> FetchRequest { try RequestOptions.of(self).request() }

  /// The query for a reader of related records.
  package func relatedQuery() throws -> RelatedQuery { try RequestOptions.of(self).relatedQuery() }

  /// Whether an answer takes requests for related records.
  var isRelated: Bool { predicate.hasRelations || sorting.contains { $0.relation != nil } }

  /// The related models, as the code declares them.
  package var related: [any PersistentRecord.Type] {
    predicate.related + sorting.compactMap { $0.relation?.target }
  }
}

/// The options of a fetch, for code that is not specialized for the model.
///
/// A class, because each closure on the way to the driver takes a copy, which would count a dozen references.
@usableFromInline
final class RequestOptions {
  let model: RecordType
  let place: CallSite
  private let node: PredicateNode
  private let failure: (any Error)?
  private let conditionModels: [any PersistentRecord.Type]
  private let hasRelations: Bool
  private let order: [FieldOrder]
  /// What the criteria say of related records, by position; empty if they say nothing.
  private let relations: [RelatedCriterion?]
  private let limit: Int?
  private let offset: Int
  private let token: PageToken?
  /// The row of the record that the page begins after.
  private let after: RowBuffer?

  /// Takes what requests need of options.
  ///
  /// Not an initializer, which would own the options, and thus copy them once more.
  ///
  /// - Parameters:
  ///   - options: The options.
  ///   - place: The call site; nil for that of the options.
  /// - Returns: What requests need.
  /// - Throws: The error of encoding the record that the page begins after, and of an invalid declaration.
  @inlinable
  static func of<Model: PersistentRecord>(_ options: FetchOptions<Model>, place: CallSite? = nil) throws
    -> RequestOptions
  {
    let model = try RecordType(Model.self)
    var relations: [RelatedCriterion?] = []
    if options.sorting.contains(where: { $0.relation != nil }) {
      relations = options.sorting.map { $0.relation }
    }
    return RequestOptions(
      model, options.predicate.node, options.predicate.failure, options.predicate.related,
      hasRelations: options.predicate.hasRelations, order: options.sorting.map { $0.fieldOrder }, relations,
      limit: options.limit, offset: options.offset, options.token,
      after: try options.after.map { try RowBuffer(encoding: $0) }, place ?? options.place)
  }

  @usableFromInline
  init(
    _ model: RecordType, _ node: PredicateNode, _ failure: (any Error)?,
    _ conditionModels: [any PersistentRecord.Type], hasRelations: Bool, order: [FieldOrder],
    _ relations: [RelatedCriterion?], limit: Int?, offset: Int, _ token: PageToken?, after: RowBuffer?,
    _ place: CallSite
  ) {
    (self.model, self.place) = (model, place)
    (self.node, self.failure, self.conditionModels) = (node, failure, conditionModels)
    (self.hasRelations, self.order, self.relations) = (hasRelations, order, relations)
    (self.limit, self.offset, self.token, self.after) = (limit, offset, token, after)
  }
}

extension RequestOptions {
  /// Whether an answer takes requests for related records.
  var isRelated: Bool { hasRelations || !relations.isEmpty }

  /// Whether the condition asks of related records.
  var hasRelatedCondition: Bool { hasRelations }

  /// The related models, as the code declares them.
  @usableFromInline var related: [any PersistentRecord.Type] {
    relations.isEmpty ? conditionModels : conditionModels + relations.compactMap { $0?.target }
  }

  /// The names of the related models, also of those whose declarations the options lack.
  var relatedNames: Set<StoredName> {
    var names = node.relatedModels
    for case let relation? in relations { names.insert(StoredName(relation.field.model)) }
    return names
  }

  /// The filter; nil if every model matches.
  private func filter() throws -> PredicateNode? {
    if let failure { throw failure }
    return node.filter
  }

  /// The request for drivers, for the store at a location, which must be that of a page token.
  func request(at location: @autoclosure () -> String) throws -> FetchRequest {
    guard let token else { return try request() }
    return try request {
      try token.anchor(for: $0.identifyingText, model: $0.schema.name, location: location())
    }
  }

  /// The request for drivers, from options without a page token.
  func request() throws -> FetchRequest {
    guard let after else { return try whole() }
    return try request { try $0.anchor(of: after) }
  }

  /// The request with an anchor in the order of the request without one.
  private func request(after anchor: (FetchRequest) throws -> PageAnchor) throws -> FetchRequest {
    let whole = try whole()
    return try FetchRequest(
      whole.schema, where: whole.predicate, order: whole.order, limit: limit, offset: offset,
      after: anchor(whole))
  }

  private func whole() throws -> FetchRequest {
    do {
      return try FetchRequest(model.schema, where: filter(), order: order, limit: limit, offset: offset)
    } catch let error as PersistenceError where error.code == .unknownField {
      // No field has the name of a criterion over a related record.
      for case let relation? in relations {
        throw PersistenceError.relatedOrder(relation.field, of: "\(model.type)")
      }
      throw error
    }
  }

  /// The query for a reader of related records.
  func relatedQuery() throws -> RelatedQuery {
    let criteria = order.enumerated().map { position, order in
      RelatedOrder.Criterion(order, related: relations.isEmpty ? nil : relations[position]?.field)
    }
    return RelatedQuery(model.schema, where: try filter(), order: criteria, limit: limit, offset: offset)
  }

  /// The bookmark in an order that the page begins after; nil for the first page.
  func anchor(in order: () throws -> PageOrder, at location: String) throws -> PageAnchor? {
    if let token {
      return try token.anchor(for: order().identifyingText, model: model.schema.name, location: location)
    }
    guard let after else { return nil }
    let order = try order()
    return try after.withRow { try order.anchor(of: $0) }
  }
}

extension RowBuffer {
  /// Creates the row of a record.
  @usableFromInline
  convenience init<Model: PersistentRecord>(encoding record: Model) throws {
    self.init(count: try Model.schema.model.fields.count)
    try record.encode(into: self)
  }
}

extension FetchRequest {
  /// The anchor of a row in the request's order.
  func anchor(of row: RowBuffer) throws -> PageAnchor {
    PageAnchor(try row.withRow { try RowOrder(totalOrder, in: schema).key(of: $0) })
  }
}

extension PredicateNode {
  /// The condition; nil if every record matches.
  var filter: PredicateNode? { if case .constant(true) = self { nil } else { self } }
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
