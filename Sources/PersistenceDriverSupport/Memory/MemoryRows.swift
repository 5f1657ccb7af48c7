import PersistenceDriver

/// How records of a table become rows of a request's schema, whose fields may stand in another order.
enum MemoryRows {
  /// For each field of the declared schema, its position in the stored one; nil where they are the same.
  static func positions(of declared: ModelSchema, in stored: ModelSchema) -> [Int]? {
    guard declared.identity != stored.identity, declared.fields != stored.fields else { return nil }
    return declared.fields.compactMap { stored.position(of: $0.name) }
  }

  static func fill(_ row: RowBuffer, with record: MemoryTable.Record, positions: [Int]?) {
    row.reset()
    guard let positions else { return row.set(record.values) }
    for (position, stored) in positions.enumerated() { row.set(record.values[stored], at: position) }
  }

  /// The record that a row of the declared schema stands for in a table.
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
