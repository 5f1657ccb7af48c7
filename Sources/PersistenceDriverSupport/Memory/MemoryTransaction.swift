import PersistencePrimitives
import PersistenceDriver

/// A transaction of a memory context: a copy of the state, which a commit publishes.
final class MemoryTransaction: StorageTransaction, MemoryReader {
  let location: String
  var state: MemoryState
  private let lifetime = TransactionLifetime()

  init(_ state: MemoryState, location: String) {
    self.state = state
    self.location = location
  }

  /// Closes the transaction; further calls throw.
  func end() { lifetime.end() }

  func lasting(_ results: any StorageResults) -> any StorageResults { lifetime.limit(results) }

  func readableState() throws -> MemoryState {
    try requireOpen()
    return state
  }

  func define(_ schema: ModelSchema) throws {
    try requireOpen()
    if let table = state.tables[StoredName(schema.name)] {
      try schema.requireCompatible(with: table.schema, location: location)
    } else {
      state.tables[StoredName(schema.name)] = MemoryTable(schema: schema)
    }
  }

  func defineDeferringIndexes(_ schema: ModelSchema) throws { try define(schema) }

  func buildIndexes(of schema: ModelSchema) throws -> Bool {
    try requireOpen()
    return true
  }

  func update(_ request: UpdateRequest) throws -> Int { try updateEach(request) }

  func drop(_ schema: ModelSchema) throws {
    try withTable(schema) { _ in }
    state.tables[StoredName(schema.name)] = nil
  }

  func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    try change(row, in: schema) { record, exists in
      if exists { throw PersistenceError.duplicateKey(record.key, in: schema) }
    }
  }

  func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    try change(row, in: schema) { record, exists in
      if !exists { throw PersistenceError.notFound(record.key, in: schema) }
    }
  }

  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    try change(row, in: schema) { _, _ in }
  }

  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    try key.validate(for: schema)
    return try withTable(schema) { $0.remove(key) } ?? false
  }

  func delete(_ request: FetchRequest) throws -> Int {
    let results = try fetch(request)
    var keys: [RecordKey] = []
    _ = try results.read(from: 0, limit: Int.max) { keys.append(try RecordKey(of: $0, in: request.schema)) }
    _ = try withTable(request.schema) { table in for key in keys { _ = table.remove(key) } }
    return keys.count
  }

  func deleteAll(in schema: ModelSchema) throws -> Int {
    try withTable(schema) { table in
      let count = table.count
      table.removeAll()
      return count
    } ?? 0
  }

  func nested(_ body: () throws -> Void) throws {
    try requireOpen()
    let before = state
    do {
      try body()
    } catch {
      state = before
      throw error
    }
  }

  private func change(
    _ row: borrowing Row, in schema: ModelSchema, _ check: (MemoryTable.Record, Bool) throws -> Void
  ) throws {
    try requireOpen()
    try schema.validate(row)
    guard let stored = state.tables[StoredName(schema.name)]?.schema else {
      throw PersistenceError(
        .invalidRequest, "\(schema.name) is not defined; call define before you write", model: schema.name)
    }
    try schema.requireCompatible(with: stored, location: location)
    let record = try MemoryRows.record(row, in: schema, stored: stored)
    try withTable(schema) { table in
      try check(record, table.record(for: record.key) != nil)
      try table.save(record)
    }
  }

  /// Changes a table in place: a second reference would cause a copy of its chunks.
  @discardableResult
  private func withTable<Result>(_ schema: ModelSchema, _ body: (inout MemoryTable) throws -> Result) throws
    -> Result?
  {
    try requireOpen()
    let name = StoredName(schema.name)
    guard let stored = state.tables[name]?.schema else { return nil }
    try schema.requireCompatible(with: stored, location: location)
    return try body(&state.tables[name, default: MemoryTable(schema: stored)])
  }

  private func requireOpen() throws { try lifetime.requireOpen() }
}
