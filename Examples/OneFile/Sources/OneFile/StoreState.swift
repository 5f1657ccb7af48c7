import PersistenceDriver

/// Everything that a store holds, as a value: a copy is a snapshot of the whole store (contract R2).
struct StoreState: Sendable {
  var tables: [StoredName: Table] = [:]

  /// The tables in the order of their names' bytes.
  var sortedTables: [Table] { tables.sorted { $0.key < $1.key }.map(\.value) }

  /// The table of a model, checked against the declared schema; nil where the store does not hold the model.
  func table(_ schema: ModelSchema, location: String) throws -> Table? {
    guard let table = tables[StoredName(schema.name)] else { return nil }
    try schema.requireCompatible(with: table.schema, location: location)
    return table
  }
}
