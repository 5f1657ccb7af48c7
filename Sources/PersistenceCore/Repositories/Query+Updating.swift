public import PersistenceDriver

extension Query {
  /// Sets properties of the records, after limit and offset, in one transaction and without decoding them.
  ///
  /// ```swift
  /// try repository.filter(Movie.self, where: \.rating == nil).update(.set(\.rating, to: .pg))
  /// ```
  ///
  /// - Parameter assignments: The properties and their new values.
  /// - Returns: The number of records.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/uniqueViolation`` if two records would
  ///   have the same unique value, and ``PersistenceError/Code/invalidRequest`` if there are no assignments,
  ///   or one sets a key. If it throws, nothing changes.
  @discardableResult
  public func update(_ assignments: PropertyAssignment<Model>...) throws -> Int {
    try Model.update(in: context, options: options, set: assignments)
  }
}

extension PersistentRecord {
  /// Sets properties of the records that a fetch with the same options would return, and returns their number.
  package static func update(
    in context: any PersistentContext, options: FetchOptions<Self>,
    set assignments: [PropertyAssignment<Self>]
  ) throws -> Int {
    let options = try RequestOptions.of(options)
    return try StorageAccess.with(context, for: options.model, relating: options.related) { access in
      let assignments = try assignments.map { try $0.checkedAssignment() }
      var updated = 0
      try access.writeSingle(options) { transaction, request in
        let update = try UpdateRequest(request, set: assignments)
        do {
          updated = try transaction.update(update)
        } catch let error as PersistenceError where [.schemaMismatch, .invalidRequest].contains(error.code) {
          // The store may lack the field, or have a narrower one. As a save does, the first write makes the changes that
          // cost only the catalog (contract S1).
          guard try transaction.schema(named: request.schema.name) != request.schema else { throw error }
          try define(request.schema, in: transaction, of: access.root)
          updated = try transaction.update(update)
        }
      }
      return updated
    }
  }
}

extension PersistentRepository {
  /// Sets properties of all records that match a condition, in one transaction and without decoding them.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - predicate: The filter; `.all` for all records.
  ///   - assignments: The properties and their new values.
  /// - Returns: The number of records.
  /// - Throws: ``PersistenceError``, as ``Query/update(_:)`` does.
  @discardableResult
  public func update<Model: PersistentRecord>(
    _ model: Model.Type, where predicate: PersistentPredicate<Model>,
    set assignments: PropertyAssignment<Model>...
  ) throws -> Int {
    try model.update(in: context, options: FetchOptions(predicate: predicate), set: assignments)
  }

  /// Deletes all records that match a condition, in one transaction and without decoding them.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - predicate: The filter.
  /// - Returns: The number of records.
  /// - Throws: ``PersistenceError``.
  @discardableResult
  public func delete<Model: PersistentRecord>(
    _ model: Model.Type, where predicate: PersistentPredicate<Model>
  ) throws -> Int {
    try model.delete(in: context, options: FetchOptions(predicate: predicate))
  }
}

/// A new value for a property of many records: `.set(\.rating, to: .pg)`.
public struct PropertyAssignment<Model: PersistentRecord>: Sendable, Hashable {
  private let fieldAssignment: FieldAssignment

  /// Why the value could not be encoded; thrown when the assignment is used.
  private var failure: PersistenceError?

  /// Sets a property to a value.
  ///
  /// - Parameters:
  ///   - property: A stored property that is not part of the primary key.
  ///   - value: The value.
  /// - Returns: The assignment.
  public static func set<Value: PersistentValueConvertible>(
    _ property: KeyPath<Model, Value>, to value: Value
  ) -> PropertyAssignment {
    PropertyAssignment(fieldAssignment: FieldAssignment(Model.name(of: property), value.persistentValue))
  }

  /// Sets a property of any other `Codable` type, such as an array, a nested value or an enumeration over raw values.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - value: The whole value; a value that cannot be encoded makes the update throw.
  /// - Returns: The assignment.
  @_disfavoredOverload
  public static func set<Value: Codable>(_ property: KeyPath<Model, Value>, to value: Value)
    -> PropertyAssignment
  {
    let field = Model.name(of: property)
    do {
      return PropertyAssignment(
        fieldAssignment: FieldAssignment(field, try Model.storedForm(of: value, in: field)))
    } catch {
      let failure = error as? PersistenceError ?? PersistenceError(.encodingFailed, "\(error)")
      return PropertyAssignment(fieldAssignment: FieldAssignment(field, .null), failure: failure)
    }
  }

  /// The assignment in the form that contexts use; throws if its value could not be encoded.
  func checkedAssignment() throws -> FieldAssignment {
    if let failure { throw failure }
    return fieldAssignment
  }

  /// Whether two assignments set the same property to the same value.
  public static func == (left: PropertyAssignment, right: PropertyAssignment) -> Bool {
    left.fieldAssignment == right.fieldAssignment && (left.failure == nil) == (right.failure == nil)
  }

  /// Hashes the property and the value.
  public func hash(into hasher: inout Hasher) { hasher.combine(fieldAssignment) }
}
