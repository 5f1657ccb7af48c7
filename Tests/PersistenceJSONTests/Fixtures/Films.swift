import PersistenceDriver

/// The models that the tests keep: small films with a unique code.
enum Films {
  static let schema = make("Film")
  static let folder = "Film"

  static func make(_ name: String) -> ModelSchema {
    do {
      return try ModelSchema(
        name: name,
        fields: [
          FieldSchema("id", .int64), FieldSchema("title", .string),
          FieldSchema("code", .string, isOptional: true),
        ], key: ["id"], indexes: [IndexSchema(["code"], isUnique: true)])
    } catch {
      // An invalid schema fails every test that uses it.
      preconditionFailure("\(error)")
    }
  }

  static func row(_ id: Int64, _ title: String, _ code: String? = nil) -> [PersistentValue] {
    [.integer(id), .text(title), code.map(PersistentValue.text) ?? .null]
  }

  static func key(_ id: Int64) -> RecordKey { RecordKey([.integer(id)]) }
}

extension StorageTransaction {
  func save(_ values: [PersistentValue], in schema: ModelSchema = Films.schema) throws {
    let row = RowBuffer(count: schema.fields.count)
    row.set(values)
    try row.withRow { try save($0, in: schema) }
  }

  func insert(_ values: [PersistentValue], in schema: ModelSchema = Films.schema) throws {
    let row = RowBuffer(count: schema.fields.count)
    row.set(values)
    try row.withRow { try insert($0, in: schema) }
  }
}

extension StorageContext {
  /// Saves rows in one transaction.
  func save(_ rows: [PersistentValue]..., in schema: ModelSchema = Films.schema) throws {
    try transaction { transaction in
      try transaction.define(schema)
      for row in rows { try transaction.save(row, in: schema) }
    }
  }

  func delete(_ id: Int64) throws {
    try transaction { _ = try $0.delete(Films.key(id), in: Films.schema) }
  }
}

extension StorageReader {
  /// All rows of a request.
  func rows(_ request: FetchRequest) throws -> [[PersistentValue]] { try fetch(request).rows() }

  func rows(of schema: ModelSchema = Films.schema) throws -> [[PersistentValue]] {
    try rows(FetchRequest(schema))
  }

  /// The titles of all films, in key order.
  func titles() throws -> [String] { try fetch(FetchRequest(Films.schema)).titles() }

  func row(_ key: RecordKey, in schema: ModelSchema = Films.schema) throws -> [PersistentValue]? {
    var values: [PersistentValue]?
    _ = try find(key, in: schema) { values = try $0.values() }
    return values
  }
}

extension StorageResults {
  func rows() throws -> [[PersistentValue]] {
    var rows: [[PersistentValue]] = []
    _ = try read(from: 0, limit: Int.max) { rows.append(try $0.values()) }
    return rows
  }

  func titles() throws -> [String] {
    try rows().map { row in
      if case .text(let title) = row[1] { title } else { "" }
    }
  }
}
