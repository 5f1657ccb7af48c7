import PersistenceCore
import PersistenceDriverSupport

/// The recorded writes of a transaction, for replay.
final class WriteRecorder {
  /// One write.
  enum Write: Sendable {
    case define(ModelSchema)
    case save([PersistentValue], ModelSchema)
    case delete(RecordKey, ModelSchema)
    case deleteAll(ModelSchema)
    case drop(ModelSchema)
    case evolve(SchemaChange)

    func apply(to transaction: any StorageTransaction) throws {
      switch self {
      case .define(let schema): try transaction.define(schema)
      case .save(let row, let schema): try transaction.write(.save, row, in: schema)
      case .delete(let key, let schema): _ = try transaction.delete(key, in: schema)
      case .deleteAll(let schema): _ = try transaction.deleteAll(in: schema)
      case .drop(let schema): try transaction.drop(schema)
      case .evolve(let change): try transaction.evolve(change)
      }
    }
  }

  var all: [Write] = []
}

/// A transaction that records its writes.
final class RecordedTransaction: StorageTransactionWrapper {
  let wrapped: any StorageTransaction
  private let writes: WriteRecorder

  init(_ wrapped: any StorageTransaction, _ writes: WriteRecorder) {
    self.wrapped = wrapped
    self.writes = writes
  }

  func define(_ schema: ModelSchema) throws {
    try wrapped.define(schema)
    writes.all.append(.define(schema))
  }
  func defineDeferringIndexes(_ schema: ModelSchema) throws {
    try wrapped.defineDeferringIndexes(schema)
    writes.all.append(.define(schema))
  }
  func drop(_ schema: ModelSchema) throws {
    try wrapped.drop(schema)
    writes.all.append(.drop(schema))
  }
  func evolve(_ change: SchemaChange) throws {
    try wrapped.evolve(change)
    writes.all.append(.evolve(change))
  }
  func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.insert(row, in: schema)
    writes.all.append(.save(try row.values(), schema))
  }
  func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.update(row, in: schema)
    writes.all.append(.save(try row.values(), schema))
  }
  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.save(row, in: schema)
    writes.all.append(.save(try row.values(), schema))
  }
  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    let isDeleted = try wrapped.delete(key, in: schema)
    writes.all.append(.delete(key, schema))
    return isDeleted
  }
  func delete(_ request: FetchRequest) throws -> Int {
    for row in try wrapped.rows(request) {
      let schema = request.schema
      writes.all.append(.delete(RecordKey(schema.keyPositions.map { row[$0] }), schema))
    }
    return try wrapped.delete(request)
  }
  func update(_ request: UpdateRequest) throws -> Int { try updateEach(request) }
  func deleteAll(in schema: ModelSchema) throws -> Int {
    let count = try wrapped.deleteAll(in: schema)
    writes.all.append(.deleteAll(schema))
    return count
  }
  func nested(_ body: () throws -> Void) throws {
    let count = writes.all.count
    do {
      try wrapped.nested(body)
    } catch {
      writes.all.removeSubrange(count...)
      throw error
    }
  }
}
