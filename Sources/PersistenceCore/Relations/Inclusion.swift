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
  let query: Query<Model>?
  /// The models of all levels, as the code declares them.
  package let related: [any PersistentRecord.Type]
  /// What is included, in the words of a server.
  private let descriptions: [@Sendable () throws -> RelatedInclusion]
  /// The elements for some records, in their order.
  let load: @Sendable (_ models: [Model], _ reader: RelatedReader) throws -> [Element]

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
  package static var nested: Inclusion<Model, Model> { Inclusion(nil) }

  /// The query without included records yet.
  init(_ query: Query<Model>?) {
    self.init(query: query, related: [], descriptions: []) { models, _ in models }
  }
}

extension Inclusion {
  /// The inclusion with several more elements of the tuples.
  func adding<each Known: Sendable, each New: Sendable>(
    _ loadings: repeat RelatedLoading<Model, each New>
  ) -> Inclusion<Model, (repeat each Known, repeat each New)> where Element == (repeat each Known) {
    let known = load
    let loadings = (repeat each loadings)
    var (related, descriptions) = (related, descriptions)
    for loading in repeat each loadings {
      related += loading.models
      descriptions.append(loading.description)
    }
    return Inclusion<Model, (repeat each Known, repeat each New)>(
      query: query, related: related, descriptions: descriptions
    ) { models, reader in
      let elements = try known(models, reader)
      let columns = (repeat try (each loadings).load(models, reader))
      return elements.indices.map { index in
        let element = elements[index]
        return (repeat each element, repeat (each columns)[index])
      }
    }
  }

  /// What is included, in the words of a server.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` if a server cannot include it.
  package func described() throws -> [RelatedInclusion] { try descriptions.map { try $0() } }

  /// The elements for some records, whose related records are in a reader.
  package func elements(of models: [Model], in reader: any StorageReader, location: String) throws
    -> [Element]
  {
    try load(models, RelatedReader(reader, location: location))
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
    let decoder = RowDecoder(models) { $0.isEmpty ? [] : try inclusion.load($0, reader) }
    return PersistentResults(
      storage: isPinned
        ? try ResultStorage(rows, of: answerable.request, decoder, store.monitor, place: options.place)
        : try ResultStorage(reading: rows, decoder, store.monitor))
  }
}
