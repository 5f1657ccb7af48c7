package import PersistenceCore

/// A store of one model that has a schema but no Swift type, read and written as rows of values.
package struct RowStore {
  /// The context.
  package let context: any StorageContext
  /// The model.
  package let schema: ModelSchema

  /// Creates a store of rows.
  package init(_ context: any StorageContext, _ schema: ModelSchema) {
    self.context = context
    self.schema = schema
  }

  /// Adds or replaces rows in one transaction.
  package func save(_ rows: [[PersistentValue]]) throws {
    try context.transaction { transaction in
      try transaction.define(schema)
      let buffer = RowBuffer(count: schema.fields.count)
      for row in rows {
        buffer.set(row)
        try buffer.withRow { try transaction.save($0, in: schema) }
      }
    }
  }

  /// Returns the matching rows, in order.
  package func rows(where predicate: PredicateNode? = nil, order: [FieldOrder] = []) throws
    -> [[PersistentValue]]
  {
    try Self.rows(of: FetchRequest(schema, where: predicate, order: order), from: context)
  }

  /// Returns the row of a key.
  package func find(_ key: [PersistentValue]) throws -> [PersistentValue]? {
    var found: [PersistentValue]?
    _ = try context.find(RecordKey(key), in: schema) { found = try $0.values() }
    return found
  }

  /// Deletes the row of a key.
  package func delete(_ key: [PersistentValue]) throws -> Bool {
    var isDeleted = false
    try context.transaction { isDeleted = try $0.delete(RecordKey(key), in: schema) }
    return isDeleted
  }

  /// Returns the rows of a request, from a context, a snapshot or a transaction.
  package static func rows(of request: FetchRequest, from reader: any StorageReader) throws
    -> [[PersistentValue]]
  {
    var rows: [[PersistentValue]] = []
    let results = try reader.fetch(request)
    _ = try results.read(from: 0, limit: Int.max) { rows.append(try $0.values()) }
    return rows
  }
}
