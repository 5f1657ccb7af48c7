import PersistenceCore

/// The rows of one model that has a schema but no Swift type.
struct RowStore {
  let context: any StorageContext
  let schema: ModelSchema

  init(_ context: any StorageContext, _ schema: ModelSchema) {
    self.context = context
    self.schema = schema
  }

  func save(_ rows: [[PersistentValue]]) throws {
    try context.transaction { transaction in
      try transaction.define(schema)
      try transaction.save(rows, in: schema)
    }
  }

  func rows(
    where predicate: PredicateNode? = nil, order: [FieldOrder] = [], file: StaticString = #fileID,
    line: UInt = #line
  ) throws -> [[PersistentValue]] {
    try Self.rows(
      of: FetchRequest(schema, where: predicate, order: order), from: context, file: file, line: line)
  }

  func find(_ key: [PersistentValue], file: StaticString = #fileID, line: UInt = #line) throws
    -> [PersistentValue]?
  {
    var found: [PersistentValue]?
    _ = try context.find(RecordKey(key), in: schema) { found = try $0.values() }
    try found.map { try Self.requireWidth($0, "find", schema, file, line) }
    return found
  }

  func delete(_ key: [PersistentValue]) throws -> Bool {
    var isDeleted = false
    try context.transaction { isDeleted = try $0.delete(RecordKey(key), in: schema) }
    return isDeleted
  }

  static func rows(
    of request: FetchRequest, from reader: any StorageReader, file: StaticString = #fileID,
    line: UInt = #line
  ) throws -> [[PersistentValue]] {
    var rows: [[PersistentValue]] = []
    let results = try reader.fetch(request)
    _ = try results.read(from: 0, limit: Int.max) { rows.append(try $0.values()) }
    for row in rows { try requireWidth(row, "fetch", request.schema, file, line) }
    return rows
  }

  /// Checks the number of cells, because checks address cells by position.
  private static func requireWidth(
    _ row: [PersistentValue], _ call: String, _ schema: ModelSchema, _ file: StaticString, _ line: UInt
  ) throws {
    guard row.count != schema.fields.count else { return }
    throw ConformanceFailure(
      "a row of \(schema.name) from \(call)", expected: "\(schema.fields.count) cells, one for each field",
      found: "\(row.count) cells: \(Shown.text(row))", file: file, line: line)
  }
}
