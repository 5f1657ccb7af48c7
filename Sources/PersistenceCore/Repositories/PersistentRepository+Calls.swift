import PersistenceDriver

extension PersistentRepository {
  /// Fetches the models of a type lazily.
  ///
  /// - Parameters:
  ///   - model: The type.
  ///   - options: The options; nil for all models, ordered by primary key.
  ///   - fileID: The file of the call, for reports of long-held results.
  ///   - line: The line of the call.
  /// - Returns: A lazy collection.
  /// - Throws: ``PersistenceError``.
  public func fetch<Model: PersistentModel>(
    _ model: Model.Type, options: FetchOptions<Model>? = nil, fileID: String = #fileID, line: UInt = #line
  ) throws -> AnyCollection<Model> {
    try model.fetch(in: context, options: options ?? FetchOptions(fileID: fileID, line: line))
  }

  /// Counts the models of a type without decoding them.
  ///
  /// - Parameters:
  ///   - model: The type.
  ///   - options: The options; nil for all models.
  /// - Returns: The number of models.
  /// - Throws: ``PersistenceError``.
  public func count<Model: PersistentModel>(_ model: Model.Type, options: FetchOptions<Model>? = nil) throws
    -> Int
  {
    try model.count(in: context, options: options)
  }

  /// Adds a model, or replaces the one with the same identity.
  ///
  /// - Parameter model: The model to save.
  /// - Throws: ``PersistenceError``.
  public func save<Model: PersistentModel>(_ model: Model) throws {
    try Model.save([model], in: context)
  }

  /// Adds models, or replaces those with the same identities, in one transaction.
  ///
  /// - Parameter models: The models to save.
  /// - Throws: ``PersistenceError``. If it throws, none is saved.
  public func save<Model: PersistentModel>(contentsOf models: some Sequence<Model>) throws {
    try Model.save(Array(models), in: context)
  }

  /// Reads the stored model, changes it and saves it, in one transaction.
  ///
  /// Concurrent changes to different properties are all kept (contract W2).
  ///
  /// - Parameters:
  ///   - model: A model with the identity to look up; its other properties are ignored.
  ///   - change: Changes the stored model; if it throws, nothing is changed. It may run more than once on an engine that
  ///     ``PersistenceDriver/Capabilities/replays``.
  /// - Returns: The stored model after the change.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` if there is no such model,
  ///   and the closure's error.
  @discardableResult
  public func write<Model: PersistentModel>(_ model: Model, _ change: (inout Model) throws -> Void) throws
    -> Model
  {
    try Model.write(model, in: context, change)
  }

  /// Deletes a model.
  ///
  /// - Parameter model: A model with the identity to look up.
  /// - Returns: Whether the model existed.
  /// - Throws: ``PersistenceError``.
  @discardableResult
  public func delete<Model: PersistentModel>(_ model: Model) throws -> Bool {
    try Model.delete(model, in: context)
  }

  /// Deletes all models of a type, and no others.
  ///
  /// - Parameter model: The type.
  /// - Throws: ``PersistenceError``.
  public func deleteAll<Model: PersistentModel>(_ model: Model.Type) throws {
    try model.deleteAll(in: context)
  }
}

extension PersistentRepository {
  /// Finds the record with a primary key.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - id: The key.
  /// - Returns: The record; nil if there is none.
  /// - Throws: ``PersistenceError``.
  @inlinable
  @inline(__always)  // `any PersistentRepository` gets no specialization of its own
  public func find<Model: PersistentRecord>(_ model: Model.Type, id: Model.PrimaryKey) throws -> Model? {
    try model.find(id, in: context)
  }

  /// Adds a record.
  ///
  /// - Parameter model: The record to add.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/duplicateKey`` if the key exists, and
  ///   ``PersistenceError/Code/uniqueViolation``.
  public func insert<Model: PersistentRecord>(_ model: Model) throws {
    try Model.insert([model], in: context)
  }

  /// Adds records in one transaction.
  ///
  /// - Parameter models: The records to add.
  /// - Throws: ``PersistenceError``. If it throws, none is added.
  public func insert<Model: PersistentRecord>(contentsOf models: some Sequence<Model>) throws {
    try Model.insert(Array(models), in: context)
  }

  /// Replaces the record with the same key.
  ///
  /// - Parameter model: The new record.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` if there is none, and
  ///   ``PersistenceError/Code/uniqueViolation``.
  public func update<Model: PersistentRecord>(_ model: Model) throws {
    try Model.update([model], in: context)
  }

  /// Replaces the records with the same keys in one transaction.
  ///
  /// - Parameter models: The new records.
  /// - Throws: ``PersistenceError``. If it throws, none is replaced.
  public func update<Model: PersistentRecord>(contentsOf models: some Sequence<Model>) throws {
    try Model.update(Array(models), in: context)
  }

  /// Reads the record with a key, changes it and saves it, in one transaction.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - id: The key, which the closure must not change.
  ///   - change: Changes the stored record; if it throws, nothing is changed. It may run more than once on an engine that
  ///     ``PersistenceDriver/Capabilities/replays``.
  /// - Returns: The stored record after the change.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` if there is no such record,
  ///   and the closure's error.
  @discardableResult
  public func write<Model: PersistentRecord>(
    _ model: Model.Type, id: Model.PrimaryKey, _ change: (inout Model) throws -> Void
  ) throws -> Model {
    try model.write(id, in: context, change)
  }

  /// Deletes the record with a key.
  ///
  /// - Parameters:
  ///   - model: The record's type.
  ///   - id: The key.
  /// - Returns: Whether the record existed.
  /// - Throws: ``PersistenceError``.
  @discardableResult
  public func delete<Model: PersistentRecord>(_ model: Model.Type, id: Model.PrimaryKey) throws -> Bool {
    try model.delete(id, in: context)
  }
}
