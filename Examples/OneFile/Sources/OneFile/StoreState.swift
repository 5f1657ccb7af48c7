import PersistenceDriver

/// The content of a store, as a value: a copy is a snapshot of the whole store (contract R2).
struct StoreState: Sendable {
  var tables: [StoredName: Table] = [:]

  /// The tables in the order of their names' bytes.
  var sortedTables: [Table] { tables.sorted { $0.key < $1.key }.map(\.value) }

  /// Returns the table of a model after a check of the declared schema; nil if the store has no such model.
  func table(_ schema: ModelSchema, location: String) throws -> Table? {
    guard let table = tables[StoredName(schema.name)] else { return nil }
    try schema.requireCompatible(with: table.schema, location: location)
    return table
  }
}
