public import PersistenceCore
public import PersistenceDriver

/// A data source that returns objects with related ones: a repository, or a server of this package.
public protocol IncludingDataSource<Object>: DataSource where Failure == PersistenceError {
  /// All objects that match a query, with what an inclusion adds to them; see ``DataSourceQuery/result(including:)``.
  ///
  /// - Parameters:
  ///   - query: The predicate, order and limits.
  ///   - inclusion: What belongs to an object.
  /// - Returns: The tuples, in the query's order.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` if the data source cannot include this.
  func execute<Element: Sendable>(
    _ query: FetchOptions<Object>, including inclusion: Inclusion<Object, Element>
  ) async throws(PersistenceError) -> [Element]
}

extension DataSourceQuery where Source: IncludingDataSource {
  /// All objects that match, with related ones (contract L7).
  ///
  /// ```swift
  /// let found = try await movies.filter(where: \.year > 2000)
  ///   .result { $0.including(\.studio).including(all: \Credit.movie) }
  /// for (movie, studio, credits) in found { … }
  /// ```
  ///
  /// - Parameter inclusion: Adds to the inclusion of an object.
  /// - Returns: The tuples, in the query's order.
  /// - Throws: ``PersistenceError``.
  public func result<Element: Sendable>(
    including inclusion: (Inclusion<Source.Object, Source.Object>) -> Inclusion<Source.Object, Element>
  ) async throws(PersistenceError) -> [Element] {
    try await source.execute(options, including: inclusion(.nested))
  }
}

extension RepositoryDataSource: IncludingDataSource {
  /// All objects that match a query, with what an inclusion adds to them, from one moment.
  public func execute<Element: Sendable>(
    _ query: FetchOptions<Object>, including inclusion: Inclusion<Object, Element>
  ) async throws(PersistenceError) -> [Element] {
    try await work { repository in
      try Object.results(in: repository.context, options: query, including: inclusion).checkedArray()
    }
  }
}

extension LayeredDataSource: IncludingDataSource {
  /// Layers do not include.
  ///
  /// Each layer keeps the objects of one model, so no layer knows whether it has the objects that others refer to.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported``, always.
  public func execute<Element: Sendable>(
    _ query: FetchOptions<Object>, including inclusion: Inclusion<Object, Element>
  ) async throws(PersistenceError) -> [Element] {
    throw PersistenceError(
      .unsupported,
      "layers keep the objects of one model and include no others; query the data source of each model, or ask the remote "
        + "data source", model: try? Object.schema.model.name)
  }
}
