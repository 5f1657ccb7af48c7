import PersistenceDriver

extension PersistentRepository {
  /// The record of a primary key.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - id: The key.
  /// - Returns: The record; nil where there is none.
  /// - Throws: ``PersistenceError``.
  @inlinable
  @inline(__always)  // `any PersistentRepository` gets no specialization of its own
  public func find<Model: PersistentRecord>(_ model: Model.Type, id: Model.PrimaryKey) throws -> Model? {
    try model.find(id, in: context)
  }

  /// Adds a record.
  ///
  /// - Parameter model: What is added.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/duplicateKey`` where the key exists, and
  ///   ``PersistenceError/Code/uniqueViolation``.
  public func insert<Model: PersistentRecord>(_ model: Model) throws {
    try Model.insert([model], in: context)
  }

  /// Adds records in one transaction.
  ///
  /// - Parameter models: What is added.
  /// - Throws: ``PersistenceError``; then none of them was added.
  public func insert<Model: PersistentRecord>(contentsOf models: some Sequence<Model>) throws {
    try Model.insert(Array(models), in: context)
  }

  /// Replaces the record of the same key.
  ///
  /// - Parameter model: What replaces it.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` where there is none, and
  ///   ``PersistenceError/Code/uniqueViolation``.
  public func update<Model: PersistentRecord>(_ model: Model) throws {
    try Model.update([model], in: context)
  }

  /// Replaces the records of the same keys in one transaction.
  ///
  /// - Parameter models: What replaces them.
  /// - Throws: ``PersistenceError``; then none of them was replaced.
  public func update<Model: PersistentRecord>(contentsOf models: some Sequence<Model>) throws {
    try Model.update(Array(models), in: context)
  }

  /// Reads the record of a key, changes it and saves it, in one transaction.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - id: The key, which the change must leave as it is.
  ///   - change: Changes the stored record; where it throws, nothing is changed.
  /// - Returns: The record as it is stored afterwards.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` where there is no such record,
  ///   and what the closure throws.
  @discardableResult
  public func write<Model: PersistentRecord>(
    _ model: Model.Type, id: Model.PrimaryKey, _ change: (inout Model) throws -> Void
  ) throws -> Model {
    try model.write(id, in: context, change)
  }

  /// Deletes the record of a key.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - id: The key.
  /// - Returns: Whether there was one.
  /// - Throws: ``PersistenceError``.
  @discardableResult
  public func delete<Model: PersistentRecord>(_ model: Model.Type, id: Model.PrimaryKey) throws -> Bool {
    try model.delete(id, in: context)
  }

  /// Begins a query.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - predicate: Which records; all by default.
  /// - Returns: A query to be sorted, cut and asked.
  public func filter<Model: PersistentRecord>(
    _ model: Model.Type, where predicate: PersistentPredicate<Model> = .all
  ) -> Query<Model> {
    Query(context: context, predicate: predicate)
  }
}
