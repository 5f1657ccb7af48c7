import PersistenceCore

extension [PersistentValue] {
  func withRow<Result>(_ body: (borrowing Row) throws -> Result) rethrows -> Result {
    let buffer = RowBuffer(count: count)
    buffer.set(self)
    return try buffer.withRow(body)
  }
}

extension StorageTransaction {
  func save(_ rows: [[PersistentValue]], in schema: ModelSchema) throws {
    for row in rows { try row.withRow { try save($0, in: schema) } }
  }

  func insert(_ rows: [[PersistentValue]], in schema: ModelSchema) throws {
    for row in rows { try row.withRow { try insert($0, in: schema) } }
  }
}
