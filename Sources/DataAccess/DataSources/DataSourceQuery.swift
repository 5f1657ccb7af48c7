public import PersistenceCore
public import PersistenceDriver

extension DataSource {
  /// A query for the objects that match a predicate.
  ///
  /// - Parameter predicate: The predicate; all objects by default.
  /// - Returns: A query that you can refine.
  public func filter(where predicate: PersistentPredicate<Object> = .all) -> DataSourceQuery<Self> {
    DataSourceQuery(source: self, options: FetchOptions(predicate: predicate))
  }
}

/// A query of a data source.
///
/// It reads nothing until you ask for a result.
public struct DataSourceQuery<Source: DataSource>: Sendable {
  let source: Source

  /// The predicate, order and limits.
  public private(set) var options: FetchOptions<Source.Object>

  init(source: Source, options: FetchOptions<Source.Object>) {
    self.source = source
    self.options = options
  }

  /// The query with an additional predicate.
  public func filter(where predicate: PersistentPredicate<Source.Object>) -> DataSourceQuery {
    changed { $0.predicate = $0.predicate && predicate }
  }

  /// The query with an additional, less significant sort criterion.
  public func sorted<Value: PersistentValueConvertible>(
    by property: SendableKeyPath<Source.Object, Value>, inOrder order: SortDirection = .ascending
  ) -> DataSourceQuery {
    sorted(by: SortCriterion(property, order: order))
  }

  /// The query with additional, less significant sort criteria.
  public func sorted(by criteria: SortCriterion<Source.Object>...) -> DataSourceQuery {
    changed { $0.sorting += criteria }
  }

  /// The query with a maximum number of objects.
  public func limit(_ limit: Int) -> DataSourceQuery { changed { $0.limit = limit } }

  /// The query without so many of its first objects.
  public func offset(_ offset: Int) -> DataSourceQuery { changed { $0.offset = offset } }

  /// The query for the objects strictly after another one, such as the last object of a page.
  public func after(_ object: Source.Object) -> DataSourceQuery { changed { $0.after = object } }

  /// All objects that match.
  public func result() async throws(Source.Failure) -> [Source.Object] { try await source.execute(options) }

  /// The objects that match, in pages.
  ///
  /// - Parameter size: The maximum number of objects of a page.
  /// - Returns: A sequence of pages, which reads a page when the iterator asks for it.
  public func pages(of size: Int = 100) -> DataSourcePages<Source.Object, Source.Failure> {
    source.pages(options, size: size)
  }

  /// The first object; nil if there is none.
  public func first() async throws(Source.Failure) -> Source.Object? {
    try await source.execute(limit(min(options.limit ?? 1, 1)).options).first
  }

  /// The number of objects, after limit and offset.
  public func count() async throws(Source.Failure) -> Int { try await source.count(options) }

  private func changed(_ change: (inout FetchOptions<Source.Object>) -> Void) -> DataSourceQuery {
    var query = self
    change(&query.options)
    return query
  }
}
