import PersistenceDriver
import PersistencePrimitives

/// The content of a memory context, as a value: a copy is a snapshot of the whole store.
struct MemoryState: Sendable {
  var tables: [StoredName: MemoryTable] = [:]

  var catalog: [ModelSchema] { tables.sorted { $0.key < $1.key }.map(\.value.schema) }

  /// The table of a model, checked against the declared schema; nil if the store does not have the model.
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
    try MemoryResults(request, table: table(request.schema, location: location))
  }
}

/// Converts records of a table to rows of a request's schema, which may order the fields differently.
enum MemoryRows {
  /// For each field of the declared schema, its position in the stored one; nil if the positions are equal.
  static func positions(of declared: ModelSchema, in stored: ModelSchema) -> [Int]? {
    guard declared.identity != stored.identity, declared.fields != stored.fields else { return nil }
    return declared.fields.compactMap { stored.position(of: $0.name) }
  }

  static func fill(_ row: RowBuffer, with record: MemoryTable.Record, positions: [Int]?) {
    row.reset()
    guard let positions else { return row.set(record.values) }
    for (position, stored) in positions.enumerated() { row.set(record.values[stored], at: position) }
  }

  /// The table's record for a row of the declared schema.
  static func record(_ row: borrowing Row, in declared: ModelSchema, stored: ModelSchema) throws
    -> MemoryTable.Record
  {
    let key = try RecordKey(of: row, in: declared)
    var values = try row.values()
    if let positions = positions(of: declared, in: stored) {
      var ordered = values
      for (position, target) in positions.enumerated() { ordered[target] = values[position] }
      values = ordered
    }
    return MemoryTable.Record(key: key, values: values)
  }
}
