public import PersistenceDriver

/// A query under construction: which records, in what order, which page.
///
/// Nothing is read until it is asked.
///
/// ```swift
/// let page = try repository.filter(Movie.self, where: \.rating == .pg13)
///   .sorted(by: \.title).sorted(by: \.budget, inOrder: .descending)
///   .limit(20).after(lastMovie)
///   .result()
/// ```
public struct Query<Model: PersistentRecord>: Sendable {
  let context: any PersistentContext
  private var predicate: PersistentPredicate<Model>
  private var sorting: [SortCriterion<Model>] = []
  private(set) var limit: Int?
  private var offset = 0
  private var anchor: Model?
  var token: PageToken?

  init(context: any PersistentContext, predicate: PersistentPredicate<Model>) {
    self.context = context
    self.predicate = predicate
  }

  /// The query for the records that fit another condition too.
  public func filter(where predicate: PersistentPredicate<Model>) -> Query {
    changed { $0.predicate = $0.predicate && predicate }
  }

  /// The query with one more criterion, less significant than those before.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - order: The direction; ascending by default.
  /// - Returns: The new query.
  public func sorted<Value: PersistentValueConvertible>(
    by property: SendableKeyPath<Model, Value>, inOrder order: SortDirection = .ascending
  ) -> Query {
    sorted(by: SortCriterion(property, order: order))
  }

  /// The query with more criteria, less significant than those before.
  public func sorted(by criteria: SortCriterion<Model>...) -> Query {
    changed { $0.sorting += criteria }
  }

  /// The query for the same records in the opposite order, the greatest first.
  ///
  /// The engine walks from the other end: a limit of ten reads the last ten. Reversing a lazy result instead counts it,
  /// and reads its pages from the last to the first. Limit, offset and ``after(_:)`` are taken in the new order.
  public func reversed() -> Query {
    changed { query in
      if query.sorting.isEmpty {
        // Ties go by the key in the last criterion's direction; a declaration that is none throws when it is asked.
        let key = (try? Model.schema.model.key) ?? []
        query.sorting = key.map { SortCriterion(fieldOrder: FieldOrder($0)) }
      }
      query.sorting = query.sorting.map { criterion in
        SortCriterion(
          fieldOrder: FieldOrder(
            criterion.fieldOrder.field, isDescending: !criterion.fieldOrder.isDescending))
      }
    }
  }

  /// The query for so many records at most.
  public func limit(_ limit: Int) -> Query { changed { $0.limit = limit } }

  /// The query that passes over so many records.
  public func offset(_ offset: Int) -> Query { changed { $0.offset = offset } }

  /// The query for the records strictly after one: the last one of the page before.
  public func after(_ model: Model) -> Query {
    changed { query in
      query.anchor = model
      query.token = nil
    }
  }

  /// The records, lazily.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call, for reports of results held for long.
  ///   - line: The line of the call.
  /// - Returns: The records, whose first page has been read.
  /// - Throws: ``PersistenceError``.
  public func result(fileID: String = #fileID, line: UInt = #line) throws -> PersistentResults<Model> {
    try Model.results(in: context, options: options(fileID: fileID, line: line))
  }

  /// How many records there are, limit and offset included, without decoding them.
  ///
  /// - Returns: Their number.
  /// - Throws: ``PersistenceError``.
  public func count() throws -> Int {
    try Model.count(in: context, options: options())
  }

  /// The first record.
  ///
  /// - Returns: The record; nil where there is none.
  /// - Throws: ``PersistenceError``.
  public func first() throws -> Model? {
    try changed { $0.limit = Swift.min($0.limit ?? 1, 1) }.result().first
  }

  /// Whether there is any record.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: ``PersistenceError``.
  public func exists() throws -> Bool {
    try changed { $0.limit = Swift.min($0.limit ?? 1, 1) }.count() > 0
  }

  /// Deletes the records, limit and offset included, in one transaction.
  ///
  /// - Returns: How many there were.
  /// - Throws: ``PersistenceError``.
  @discardableResult
  public func delete() throws -> Int {
    try Model.delete(in: context, options: options())
  }

  /// The options of the same meaning.
  public func options(fileID: String = #fileID, line: UInt = #line) -> FetchOptions<Model> {
    var options = FetchOptions(
      predicate: predicate, sorting: sorting, limit: limit, offset: offset, after: anchor, fileID: fileID,
      line: line)
    options.token = token
    return options
  }

  func changed(_ change: (inout Query) -> Void) -> Query {
    var query = self
    change(&query)
    return query
  }
}
