package import PersistenceDriver
package import PersistenceDriverSupport

/// A query with included records: each element is a tuple of the record and what belongs to it (contract L7).
///
/// ```swift
/// for (movie, studio, director) in try repository.filter(Movie.self).including(\.studio, \.director).result() { … }
/// for (studio, movies, count) in try repository.filter(Studio.self)
///   .including(all: \Movie.studio, sorted: SortCriterion(\.title)).including(count: \Movie.studio).result() { … }
/// ```
///
/// A page of the result takes one request, and one more for each inclusion and level. All of them see the result's moment.
public struct Inclusion<Model: PersistentRecord, Element: Sendable>: Sendable {
  /// The query for the records; nil in the closure of an inclusion.
  @usableFromInline let query: Query<Model>?
  /// What is included, on all levels.
  @usableFromInline let outline: InclusionOutline
  /// Loads the elements for a page, and returns a closure that makes the element of the record at a position.
  @usableFromInline let load:
    @Sendable (_ page: RelatedPage<Model>, _ reader: RelatedReader) throws -> (Int) -> Element

  @inlinable
  init(
    _ query: Query<Model>?, _ outline: InclusionOutline,
    load: @escaping @Sendable (_ page: RelatedPage<Model>, _ reader: RelatedReader) throws -> (Int) -> Element
  ) {
    self.query = query
    self.outline = outline
    self.load = load
  }

  /// The records with what belongs to them, lazily.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call, for reports of long-held results.
  ///   - line: The line of the call.
  /// - Returns: The tuples, in the query's order; the first page is already read.
  /// - Throws: ``PersistenceError``; its code is ``PersistenceError/Code/brokenReference`` if an included record is missing.
  @inlinable
  public func result(fileID: String = #fileID, line: UInt = #line) throws -> PersistentResults<Element> {
    guard let query else { throw PersistenceError.noQuery }
    return try Model.results(in: query.context, options: query.placed(fileID, line), including: self)
  }

  /// The first record, with what belongs to it.
  ///
  /// - Returns: The tuple; nil if there is none.
  /// - Throws: ``PersistenceError``.
  public func first() throws -> Element? {
    guard let query else { throw PersistenceError.noQuery }
    let one = query.limit(Swift.min(query.options.limit ?? 1, 1))
    return try Model.results(in: one.context, options: one.options, including: self).first
  }
}

extension PersistenceError {
  /// An inclusion within another one is not a query of its own.
  @usableFromInline static var noQuery: PersistenceError {
    .invalidRequest("an inclusion within another one has no result of its own; return it from the closure")
  }
}

extension Inclusion where Element == Model {
  /// The inclusion in the closure of another one, which adds to it.
  @usableFromInline package static var nested: Inclusion<Model, Model> { Inclusion(nil) }

  /// The query without included records yet.
  @inlinable
  init(_ query: Query<Model>?) {
    self.init(query, .nothing) { page, _ in { page.models[$0] } }
  }

  /// The inclusion with the first elements of the tuples, beside the record.
  ///
  /// It makes the same tuples as ``adding(_:)``, which copies the elements that it finds into each new tuple.
  @inlinable
  func beginning<each New: Sendable>(with loadings: repeat RelatedLoading<Model, each New>)
    -> Inclusion<Model, (Model, repeat each New)>
  {
    let loadings = (repeat each loadings)
    var outline = outline
    for loading in repeat each loadings { outline = outline.adding(loading.outline) }
    return Inclusion<Model, (Model, repeat each New)>(query, outline) { page, reader in
      let columns = (repeat try (each loadings).load(page, reader))
      return { (page.models[$0], repeat (each columns)($0)) }
    }
  }
}

extension Inclusion {
  /// The inclusion with several more elements of the tuples.
  @inlinable
  func adding<each Known: Sendable, each New: Sendable>(
    _ loadings: repeat RelatedLoading<Model, each New>
  ) -> Inclusion<Model, (repeat each Known, repeat each New)> where Element == (repeat each Known) {
    let known = load
    let loadings = (repeat each loadings)
    var outline = outline
    for loading in repeat each loadings { outline = outline.adding(loading.outline) }
    return Inclusion<Model, (repeat each Known, repeat each New)>(query, outline) { page, reader in
      let element = try known(page, reader)
      let columns = (repeat try (each loadings).load(page, reader))
      return { position in
        let element = element(position)
        return (repeat each element, repeat (each columns)(position))
      }
    }
  }

  /// The models of all levels, as the code declares them.
  package var related: [any PersistentRecord.Type] { outline.models }

  /// What is included, in the words of a server.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` if a server cannot include it.
  package func described() throws -> [RelatedInclusion] { try outline.described() }

  /// The elements for some records, whose related records are in a reader.
  package func elements(of models: [Model], in reader: any StorageReader, location: String) throws
    -> [Element]
  {
    let page = try RelatedPage(encoding: models, fields: outline.positions())
    return try models.indices.map(load(page, RelatedReader(reader, location: location)))
  }
}

extension PersistentRecord {
  /// The results of a fetch with included records.
  @inlinable
  package static func results<Element: Sendable>(
    in context: any PersistentContext, options: FetchOptions<Self>,
    including inclusion: Inclusion<Self, Element>
  ) throws -> PersistentResults<Element> {
    var storage: ResultStorage<Element>?
    try FetchedRows.fetch(RequestOptions.of(options), in: context, including: inclusion.outline.models) {
      storage = try results(of: $0, including: inclusion)
    }
    guard let storage else { throw PersistenceError.noRows }
    return PersistentResults(storage: storage)
  }

  /// The results of rows with included records, from the moment of the rows.
  @inlinable
  static func results<Element: Sendable>(
    of fetched: FetchedRows, including inclusion: Inclusion<Self, Element>
  )
    throws -> ResultStorage<Element>
  {
    let reader = RelatedReader(fetched.reader, location: fetched.origin.location)
    return try ResultStorage(fetched, RowDecoder(fetched.origin, of: inclusion, reader))
  }
}
