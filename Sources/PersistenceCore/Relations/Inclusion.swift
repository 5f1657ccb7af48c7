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
  static var noQuery: PersistenceError {
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
  package static func results<Element: Sendable>(
    in context: any PersistentContext, options: FetchOptions<Self>,
    including inclusion: Inclusion<Self, Element>
  ) throws -> PersistentResults<Element> {
    let related = options.related + inclusion.related
    return try StorageAccess.with(context, for: Self.self, relating: related) { access in
      let moment = try access.moment()
      let answerable = try access.answerable(options, by: moment)
      return try access.root.monitor.measure(answerable.request) {
        try moment.plan(for: answerable.request)
      } _: {
        let isPinned = if case .store = access { true } else { false }
        return try results(
          of: answerable, isPinned: isPinned, options, of: access.root, including: inclusion)
      }
    }
  }

  /// The results of a request with included records, from a reader of one moment.
  ///
  /// They are pinned outside transactions, and read at once inside them (contract R1a).
  static func results<Element: Sendable>(
    of answerable: AnswerableRequest, isPinned: Bool, _ options: FetchOptions<Self>,
    of store: any StorageContext, including inclusion: Inclusion<Self, Element>
  ) throws -> PersistentResults<Element> {
    let models = RowDecoder(schema: answerable.request.schema, selecting: nil, location: store.location) {
      try Self(from: $0)
    }
    let rows = try answerable.fetch()
    let reader = RelatedReader(answerable.reader, location: store.location)
    let decoder = RowDecoder(
      models, fields: try inclusion.outline.positions(), isLong: inclusion.outline.isLong
    ) {
      try inclusion.load($0, reader)
    }
    return PersistentResults(
      storage: isPinned
        ? try ResultStorage(rows, of: answerable.request, decoder, store.monitor, place: options.place)
        : try ResultStorage(reading: rows, decoder, store.monitor))
  }
}
