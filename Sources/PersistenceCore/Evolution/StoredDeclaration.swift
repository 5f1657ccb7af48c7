import PersistenceDriver
package import PersistenceDriverSupport

/// What a declaration says of rows that a store keeps outside of its model, such as those of an outbox.
package enum StoredDeclaration {
  /// Compares a declaration with the schema of such rows, as the store's own records are compared (contract S1).
  ///
  /// - Parameters:
  ///   - type: The record type.
  ///   - stored: The schema of the rows.
  ///   - repository: The repository that keeps the rows.
  /// - Returns: What the declaration needs in order to read them.
  /// - Throws: ``PersistenceError``.
  package static func fit<Model: PersistentRecord>(
    _ type: Model.Type, to stored: ModelSchema, in repository: any PersistentRepository
  ) throws -> SchemaFit {
    let access = try StorageAccess(repository.context, for: type.recordType)
    let schema = try type.schema.model
    let declaration =
      try (access.root.monitor.schemaRules as? [ModelDeclaration])?.first {
        $0.schema == schema
      } ?? type.schema.declaration
    var history = try SchemaLedger.history(of: schema.name, access.reader)
    // The store has met the declaration, and these rows may still be older.
    history?.declarations = []
    return try SchemaComparison.fit(declaration, stored: stored, history: history)
  }
}
