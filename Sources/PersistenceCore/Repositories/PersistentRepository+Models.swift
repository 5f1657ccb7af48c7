extension PersistentRepository {
  /// The models of a type, lazily.
  ///
  /// - Parameters:
  ///   - model: The type.
  ///   - options: Which models, in what order; nil for all, in the order of their primary keys.
  ///   - fileID: The file of the call, for reports of results held for long.
  ///   - line: The line of the call.
  /// - Returns: A collection that reads the store as it is walked.
  /// - Throws: ``PersistenceError``.
  public func fetch<Model: PersistentModel>(
    _ model: Model.Type, options: FetchOptions<Model>? = nil, fileID: String = #fileID, line: UInt = #line
  ) throws -> AnyCollection<Model> {
    try model.fetch(in: context, options: options ?? FetchOptions(fileID: fileID, line: line))
  }

  /// How many models of a type there are, without decoding them.
  ///
  /// - Parameters:
  ///   - model: The type.
  ///   - options: Which models; nil for all.
  /// - Returns: Their number.
  /// - Throws: ``PersistenceError``.
  public func count<Model: PersistentModel>(_ model: Model.Type, options: FetchOptions<Model>? = nil) throws
    -> Int
  {
    try model.count(in: context, options: options)
  }

  /// Adds a model, or replaces the one of the same identity.
  ///
  /// - Parameter model: What is saved.
  /// - Throws: ``PersistenceError``.
  public func save<Model: PersistentModel>(_ model: Model) throws {
    try Model.save([model], in: context)
  }

  /// Adds models, or replaces those of the same identities, in one transaction.
  ///
  /// - Parameter models: What is saved.
  /// - Throws: ``PersistenceError``; then none of them was saved.
  public func save<Model: PersistentModel>(contentsOf models: some Sequence<Model>) throws {
    try Model.save(Array(models), in: context)
  }

  /// Reads the stored model, changes it and saves it, in one transaction: of two changes at once to different
  /// properties, neither is lost (contract W2).
  ///
  /// - Parameters:
  ///   - model: A model whose identity says which one is meant; its other properties do not matter.
  ///   - change: Changes the stored model; where it throws, nothing is changed.
  /// - Returns: The model as it is stored afterwards.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` where there is no such model,
  ///   and what the closure throws.
  @discardableResult
  public func write<Model: PersistentModel>(_ model: Model, _ change: (inout Model) throws -> Void) throws
    -> Model
  {
    try Model.write(model, in: context, change)
  }

  /// Deletes a model.
  ///
  /// - Parameter model: A model whose identity says which one is meant.
  /// - Returns: Whether there was anything to delete.
  /// - Throws: ``PersistenceError``.
  @discardableResult
  public func delete<Model: PersistentModel>(_ model: Model) throws -> Bool {
    try Model.delete(model, in: context)
  }

  /// Deletes all models of a type, and of no other.
  ///
  /// - Parameter model: The type.
  /// - Throws: ``PersistenceError``.
  public func deleteAll<Model: PersistentModel>(_ model: Model.Type) throws {
    try model.deleteAll(in: context)
  }
}
