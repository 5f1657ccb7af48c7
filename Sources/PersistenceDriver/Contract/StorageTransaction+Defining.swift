extension StorageTransaction {
  /// Defines the model with its indexes: what an engine does that has nothing to gain by building them later.
  ///
  /// - Throws: ``PersistenceError``.
  public func defineDeferringIndexes(_ schema: ModelSchema) throws { try define(schema) }

  /// Does nothing, since the indexes were built at once.
  public func buildIndexes(of schema: ModelSchema) throws -> Bool { true }

  /// Refuses: what an engine does that cannot remove models.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported``.
  public func drop(_ schema: ModelSchema) throws {
    throw PersistenceError.unsupported("remove the model \(schema.name)", by: "the context")
  }
}
