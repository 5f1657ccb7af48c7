public import PersistenceDriver

extension PersistentRepository {
  /// Begins a query.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - predicate: The filter; all records by default.
  /// - Returns: A query.
  @inlinable
  @inline(__always)  // `any PersistentRepository` gets no specialization of its own
  public func filter<Model: PersistentRecord>(
    _ model: Model.Type, where predicate: PersistentPredicate<Model> = .all
  ) -> Query<Model> {
    Query(context: context, options: FetchOptions(matching: predicate))
  }
}

extension FetchOptions {
  /// The options of a new query; inlinable, unlike the public initializer, so that they are specialized for the model.
  @inlinable
  init(matching predicate: PersistentPredicate<Model>) {
    self.predicate = predicate
    sorting = []
    limit = nil
    offset = 0
    after = nil
    token = nil
    place = CallSite()
  }
}

/// A query under construction: filter, order and page.
///
/// It reads nothing until you call a method that returns results.
///
/// ```swift
/// let page = try repository.filter(Movie.self, where: \.rating == .pg13)
///   .sorted(by: \.title).sorted(by: \.budget, inOrder: .descending)
///   .limit(20).after(lastMovie)
///   .result()
/// ```
public struct Query<Model: PersistentRecord>: Sendable {
  @usableFromInline let context: any PersistentContext
  @usableFromInline var stored: FetchOptions<Model>

  /// The options of a fetch with the same results.
  @inlinable public var options: FetchOptions<Model> { stored }

  // Inlinable, so that an app's queries are specialized for its models. Those that return a changed query consume it: a copy
  // would count a dozen references.
  @inlinable
  init(context: any PersistentContext, options: FetchOptions<Model>) {
    self.context = context
    stored = options
  }

  /// The query with another condition, which records must also match.
  @inlinable
  public consuming func filter(where predicate: PersistentPredicate<Model>) -> Query {
    changed { $0.predicate = $0.predicate && predicate }
  }

  /// The query with another sort criterion, less significant than the existing ones.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - order: The direction; ascending by default.
  /// - Returns: The new query.
  @inlinable
  public consuming func sorted<Value: PersistentValueConvertible>(
    by property: KeyPath<Model, Value>, inOrder order: SortDirection = .ascending
  ) -> Query {
    changed { $0.sorting.append(SortCriterion(property, order: order)) }
  }

  /// The query with another sort criterion, over a raw-representable `Codable` type, which is stored as its raw value.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - order: The direction; ascending by default.
  /// - Returns: The new query.
  @_disfavoredOverload
  public func sorted<Value: RawRepresentable & Codable>(
    by property: KeyPath<Model, Value>, inOrder order: SortDirection = .ascending
  ) -> Query where Value.RawValue: PersistentValueConvertible {
    sorted(by: SortCriterion(property, order: order))
  }

  /// The query with another sort criterion, over an optional of a raw-representable `Codable` type.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - order: The direction; ascending by default.
  /// - Returns: The new query.
  @_disfavoredOverload
  public func sorted<Value: RawRepresentable & Codable>(
    by property: KeyPath<Model, Value?>, inOrder order: SortDirection = .ascending
  ) -> Query where Value.RawValue: PersistentValueConvertible {
    sorted(by: SortCriterion(property, order: order))
  }

  /// The query with more sort criteria, less significant than the existing ones.
  @inlinable
  public consuming func sorted(by criteria: SortCriterion<Model>...) -> Query {
    changed { $0.sorting += criteria }
  }

  /// The query with the opposite order.
  ///
  /// The engine reads from the other end: a limit of ten reads the last ten records. Reversing a lazy result instead
  /// counts it, and reads its pages from the last to the first. Limit, offset and ``after(_:)`` use the new order.
  public func reversed() -> Query {
    changed { options in
      if options.sorting.isEmpty {
        // The key breaks ties in the last criterion's direction. An invalid declaration throws when the query runs.
        let key = (try? Model.schema.model.key) ?? []
        options.sorting = key.map { SortCriterion(fieldOrder: FieldOrder($0)) }
      }
      options.sorting = options.sorting.map(\.reversed)
    }
  }

  /// The query with a maximum number of records.
  @inlinable
  public consuming func limit(_ limit: Int) -> Query { changed { $0.limit = limit } }

  /// The query that skips a number of records.
  @inlinable
  public consuming func offset(_ offset: Int) -> Query { changed { $0.offset = offset } }

  /// The query for the records strictly after one, such as the last record of the previous page.
  @inlinable
  public consuming func after(_ model: Model) -> Query {
    changed { options in
      options.after = model
      options.token = nil
    }
  }

  /// The records, lazily.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call, for reports of long-held results.
  ///   - line: The line of the call.
  /// - Returns: The records; the first page is already read.
  /// - Throws: ``PersistenceError``.
  @inlinable
  public func result(fileID: String = #fileID, line: UInt = #line) throws -> PersistentResults<Model> {
    // Beside the options, a copy of which would count half a dozen references.
    try Model.results(in: context, options: stored, place: CallSite(fileID: fileID, line: line))
  }

  /// Counts the records, after limit and offset, without decoding them.
  ///
  /// - Returns: The number of records.
  /// - Throws: ``PersistenceError``.
  @inlinable
  public func count() throws -> Int {
    try Model.count(in: context, options: options)
  }

  /// The first record.
  ///
  /// - Returns: The record; nil if there is none.
  /// - Throws: ``PersistenceError``.
  @inlinable
  public func first() throws -> Model? {
    try changed { $0.limit = Swift.min($0.limit ?? 1, 1) }.result().first
  }

  /// Whether there is a record.
  ///
  /// - Returns: Whether there is a record.
  /// - Throws: ``PersistenceError``.
  @inlinable
  public func exists() throws -> Bool {
    try changed { $0.limit = Swift.min($0.limit ?? 1, 1) }.count() > 0
  }

  /// Deletes the records, after limit and offset, in one transaction.
  ///
  /// - Returns: The number of deleted records.
  /// - Throws: ``PersistenceError``.
  @discardableResult
  public func delete() throws -> Int {
    try Model.delete(in: context, options: options)
  }

  /// The options, with the call site for reports of long-held results.
  @inlinable
  func placed(_ fileID: String, _ line: UInt) -> FetchOptions<Model> {
    var options = options
    options.place = CallSite(fileID: fileID, line: line)
    return options
  }

  @inlinable
  consuming func changed(_ change: (inout FetchOptions<Model>) -> Void) -> Query {
    change(&stored)
    return self
  }
}
