import PersistenceDriver
import PersistenceDriverSupport

/// A transaction: a copy of the state, which the commit publishes and a rollback discards.
final class OneFileTransaction: StorageTransaction, StateReader {
  let location: String
  private(set) var copy: StoreState
  private(set) var isChanged = false
  private let lifetime = TransactionLifetime()

  init(_ state: StoreState, location: String) {
    copy = state
    self.location = location
  }

  /// Ends the transaction; later calls throw, also those of its results.
  func end() { lifetime.end() }

  func state() throws -> StoreState {
    try lifetime.requireOpen()
    return copy
  }

  func lasting(_ results: any StorageResults) -> any StorageResults { lifetime.limit(results) }

  func define(_ schema: ModelSchema) throws {
    guard try state().table(schema, location: location) == nil else { return }
    copy.tables[StoredName(schema.name)] = Table(schema)
    isChanged = true
  }

  func defineDeferringIndexes(_ schema: ModelSchema) throws { try define(schema) }

  func buildIndexes(of schema: ModelSchema) throws -> Bool {
    _ = try state()
    return true
  }

  func evolve(_ change: SchemaChange) throws { try evolveByCopying(change) }

  func drop(_ schema: ModelSchema) throws {
    guard try state().table(schema, location: location) != nil else { return }
    copy.tables[StoredName(schema.name)] = nil
    isChanged = true
  }

  func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    try write(row, in: schema) { key, exists in
      if exists { throw PersistenceError.duplicateKey(key, in: schema) }
    }
  }

  func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    try write(row, in: schema) { key, exists in
      if !exists { throw PersistenceError.notFound(key, in: schema) }
    }
  }

  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    try write(row, in: schema) { _, _ in }
  }

  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    try key.validate(for: schema)
    return try change(schema) { try $0.delete(key) } ?? false
  }

  func delete(_ request: FetchRequest) throws -> Int {
    // Collect all keys before the first deletion, because a deletion changes the rows of the request.
    var keys: [RecordKey] = []
    _ = try fetch(request).read(from: 0, limit: Int.max) { row in
      keys.append(try RecordKey(of: row, in: request.schema))
    }
    _ = try change(request.schema) { table in for key in keys { _ = try table.delete(key) } }
    return keys.count
  }

  func update(_ request: UpdateRequest) throws -> Int { try updateEach(request) }

  func deleteAll(in schema: ModelSchema) throws -> Int {
    try change(schema) { table in
      let count = table.records.count
      table.deleteAll()
      return count
    } ?? 0
  }

  func nested(_ body: () throws -> Void) throws {
    let before = try state()
    do {
      try body()
    } catch {
      copy = before
      throw error
    }
  }

  private func write(
    _ row: borrowing Row, in schema: ModelSchema, _ check: (RecordKey, Bool) throws -> Void
  ) throws {
    _ = try state()
    try schema.validate(row)
    guard let stored = try state().table(schema, location: location)?.schema else {
      throw PersistenceError(
        .invalidRequest, "\(schema.name) is not defined; define the model before writing its records",
        model: schema.name)
    }
    let record = try Record(row, of: schema, in: stored)
    _ = try change(schema) { table in
      try check(record.key, table.record(for: record.key) != nil)
      try table.save(record)
    }
  }

  /// Changes a model's table in place; returns nil if the store has no such model.
  private func change<Result>(_ schema: ModelSchema, _ body: (inout Table) throws -> Result) throws -> Result?
  {
    guard let stored = try state().table(schema, location: location)?.schema else { return nil }
    isChanged = true
    return try body(&copy.tables[StoredName(schema.name), default: Table(stored)])
  }
}
