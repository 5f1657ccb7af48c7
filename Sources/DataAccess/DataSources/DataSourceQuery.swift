public import PersistenceCore
public import PersistenceDriver

extension DataSource {
  /// The query for the objects that fit a condition.
  ///
  /// - Parameter predicate: The condition; all objects by default.
  /// - Returns: A query to go on with.
  public func filter(where predicate: PersistentPredicate<Object> = .all) -> DataSourceQuery<Self> {
    DataSourceQuery(store: self, options: FetchOptions(predicate: predicate))
  }
}

/// A query of a store under construction.
///
/// Nothing is read until it is asked.
public struct DataSourceQuery<Source: DataSource>: Sendable {
  let store: Source

  /// What is asked of the store.
  public private(set) var options: FetchOptions<Source.Object>

  init(store: Source, options: FetchOptions<Source.Object>) {
    self.store = store
    self.options = options
  }

  /// The query for the objects that fit another condition too.
  public func filter(where predicate: PersistentPredicate<Source.Object>) -> DataSourceQuery {
    changed { $0.predicate = $0.predicate && predicate }
  }

  /// The query with one more criterion, less significant than those before.
  public func sorted<Value: PersistentValueConvertible>(
    by property: SendableKeyPath<Source.Object, Value>, inOrder order: SortDirection = .ascending
  ) -> DataSourceQuery {
    sorted(by: SortCriterion(property, order: order))
  }

  /// The query with more criteria, less significant than those before.
  public func sorted(by criteria: SortCriterion<Source.Object>...) -> DataSourceQuery {
    changed { $0.sorting += criteria }
  }

  /// The query for so many objects at most.
  public func limit(_ limit: Int) -> DataSourceQuery { changed { $0.limit = limit } }

  /// The query that passes over so many objects.
  public func offset(_ offset: Int) -> DataSourceQuery { changed { $0.offset = offset } }

  /// The query for the objects strictly after one: the last one of the page before.
  public func after(_ object: Source.Object) -> DataSourceQuery { changed { $0.after = object } }

  /// The objects, whole.
  public func result() async throws(Source.Failure) -> [Source.Object] { try await store.execute(options) }

  /// The objects, a page at a time.
  ///
  /// - Parameter size: How many objects a page has at most.
  /// - Returns: A sequence of pages; nothing is read until it is walked.
  public func pages(of size: Int = 100) -> DataSourcePages<Source.Object, Source.Failure> {
    store.pages(options, size: size)
  }

  /// The first object; nil where there is none.
  public func first() async throws(Source.Failure) -> Source.Object? {
    try await store.execute(limit(min(options.limit ?? 1, 1)).options).first
  }

  /// How many objects there are, limit and offset included.
  public func count() async throws(Source.Failure) -> Int { try await store.count(options) }

  private func changed(_ change: (inout FetchOptions<Source.Object>) -> Void) -> DataSourceQuery {
    var query = self
    change(&query.options)
    return query
  }
}
