import PersistencePrimitives
import PersistenceDriver

/// Everything that a memory context holds, as a value: a copy is a snapshot of the whole store.
struct MemoryState: Sendable {
  var tables: [StoredName: MemoryTable] = [:]

  var catalog: [ModelSchema] {
    tables.sorted { $0.key < $1.key }.map(\.value.schema)
  }

  /// The table of a model, checked against the declared schema; nil where the store does not hold the model.
  func table(_ schema: ModelSchema, location: String) throws -> MemoryTable? {
    guard let table = tables[StoredName(schema.name)] else { return nil }
    try schema.requireCompatible(with: table.schema, location: location)
    return table
  }

  func find(
    _ key: RecordKey, in schema: ModelSchema, location: String, _ body: (borrowing Row) throws -> Void
  ) throws -> Bool {
    try key.validate(for: schema)
    guard let table = try table(schema, location: location), let record = table.record(for: key) else {
      return false
    }
    let row = RowBuffer(count: schema.fields.count)
    MemoryRows.fill(row, with: record, positions: MemoryRows.positions(of: schema, in: table.schema))
    try row.withRow(body)
    return true
  }

  func results(_ request: FetchRequest, location: String) throws -> MemoryResults {
    guard let table = try table(request.schema, location: location) else {
      return MemoryResults(empty: request)
    }
    return try MemoryResults(request, table: table)
  }
}
