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
    try RequestOptions(self).request(at: location)
  }

  /// The request for drivers, from options without a page token.
  package func fetchRequest() throws -> FetchRequest { try RequestOptions(self).request() }

  /// The query for a reader of related records.
  package func relatedQuery() throws -> RelatedQuery { try RequestOptions(self).relatedQuery() }

  /// Whether an answer takes requests for related records.
  var isRelated: Bool { predicate.hasRelations || sorting.contains { $0.relation != nil } }

  /// The related models, as the code declares them.
  package var related: [any PersistentRecord.Type] {
    predicate.related + sorting.compactMap { $0.relation?.target }
  }
}
