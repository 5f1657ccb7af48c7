public import PersistenceDriver

extension Query {
  /// Sets properties of the records, limit and offset included, in one transaction and without decoding any.
  ///
  /// ```swift
  /// try repository.filter(Movie.self, where: \.rating == nil).update(.set(\.rating, to: .pg))
  /// ```
  ///
  /// - Parameter assignments: What is set.
  /// - Returns: How many records there were.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/uniqueViolation`` where a unique value would stand
  ///   in two records, and ``PersistenceError/Code/invalidRequest`` where nothing or a key is set; nothing is changed
  ///   then.
  @discardableResult
  public func update(_ assignments: PropertyAssignment<Model>...) throws -> Int {
    try Model.update(in: context, options: options(), set: assignments)
  }
}

extension PersistentRecord {
  /// Sets properties of the records that a fetch of the same options would yield.
  ///
  /// - Parameters:
  ///   - context: Where the records are kept.
  ///   - options: Which records, limit and offset included.
  ///   - assignments: What is set.
  /// - Returns: How many there were.
  /// - Throws: ``PersistenceError``.
  public static func update(
    in context: any PersistentContext, options: FetchOptions<Self>,
    set assignments: [PropertyAssignment<Self>]
  ) throws -> Int {
    let access = try StorageAccess(context, for: Self.self)
    let request = try UpdateRequest(
      options.request(in: access.root), set: assignments.map { $0.fieldAssignment })
    var updated = 0
    try access.writeSingle { updated = try $0.update(request) }
    return updated
  }
}

extension PersistentRepository {
  /// Sets properties of all records that fit a condition, in one transaction and without decoding any.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - predicate: Which records; `.all` for all.
  ///   - assignments: What is set.
  /// - Returns: How many records there were.
  /// - Throws: ``PersistenceError``, as ``Query/update(_:)`` does.
  @discardableResult
  public func update<Model: PersistentRecord>(
    _ model: Model.Type, where predicate: PersistentPredicate<Model>,
    set assignments: PropertyAssignment<Model>...
  ) throws -> Int {
    try model.update(in: context, options: FetchOptions(predicate: predicate), set: assignments)
  }

  /// Deletes all records that fit a condition, in one transaction and without decoding any.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - predicate: Which records.
  /// - Returns: How many there were.
  /// - Throws: ``PersistenceError``.
  @discardableResult
  public func delete<Model: PersistentRecord>(
    _ model: Model.Type, where predicate: PersistentPredicate<Model>
  ) throws
    -> Int
  {
    try model.delete(in: context, options: FetchOptions(predicate: predicate))
  }
}
