import PersistenceCore
import PersistenceDriverSupport

/// A context that is correct except for its flaw.
final class FlawedContext: StorageContextWrapper, RowChangingWrapper {
  let wrapped: any StorageContext
  let flaw: Flaw

  init(_ wrapped: any StorageContext, _ flaw: Flaw) {
    self.wrapped = wrapped
    self.flaw = flaw
  }

  var capabilities: Capabilities {
    var capabilities = wrapped.capabilities
    flaw.capabilities?(&capabilities)
    return capabilities
  }

  func wrap(_ snapshot: any StorageSnapshot) -> any StorageSnapshot { FlawedSnapshot(snapshot, flaw) }
  func wrap(_ transaction: any StorageTransaction) -> any StorageTransaction {
    FlawedTransaction(transaction, flaw, of: wrapped)
  }

  func catalog() throws -> [ModelSchema] { try flaw.catalog(of: wrapped) }
  func schema(named name: String) throws -> ModelSchema? { try schemaFromCatalog(named: name) }
  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    try read { try flaw.looked(up: key, in: schema, wrapped, body) }
  }
  func count(_ request: FetchRequest) throws -> Int { try read { try flaw.counted(request, in: wrapped) } }
  func fetch(_ request: FetchRequest) throws -> any StorageResults {
    try read { try flaw.found(request, in: wrapped) }
  }

  func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    let run = flaw.transaction ?? { try $0.transaction(mode, $1) }
    try run(wrapped) { try body(wrap($0)) }
  }
  func close() throws {
    if let close = flaw.close { try close(wrapped) } else { try wrapped.close() }
  }

  private func read<Result>(_ body: () throws -> Result) throws -> Result {
    guard let reading = flaw.reading else { return try body() }
    var result: Result?
    try reading { result = try body() }
    guard let result else { throw PersistenceError.closed("the reader") }
    return result
  }
}

final class FlawedSnapshot: StorageSnapshotWrapper, RowChangingWrapper {
  let wrapped: any StorageSnapshot
  private let flaw: Flaw

  init(_ wrapped: any StorageSnapshot, _ flaw: Flaw) {
    self.wrapped = wrapped
    self.flaw = flaw
  }

  func catalog() throws -> [ModelSchema] { try flaw.catalog(of: wrapped) }
  func schema(named name: String) throws -> ModelSchema? { try schemaFromCatalog(named: name) }
  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    try flaw.looked(up: key, in: schema, wrapped, body)
  }
  func count(_ request: FetchRequest) throws -> Int { try flaw.counted(request, in: wrapped) }
  func fetch(_ request: FetchRequest) throws -> any StorageResults { try flaw.found(request, in: wrapped) }
}

final class FlawedTransaction: StorageTransactionWrapper, RowChangingWrapper {
  let wrapped: any StorageTransaction
  /// The engine's context, which shows the state before the transaction.
  let context: any StorageContext
  private let flaw: Flaw
  /// The records written so far.
  private(set) var touched: [(key: RecordKey, schema: ModelSchema)] = []

  init(_ wrapped: any StorageTransaction, _ flaw: Flaw, of context: any StorageContext) {
    self.wrapped = wrapped
    self.flaw = flaw
    self.context = context
  }

  private var reader: any StorageReader { flaw.insideReader?(self) ?? wrapped }

  func catalog() throws -> [ModelSchema] { try flaw.catalog(of: wrapped) }
  func schema(named name: String) throws -> ModelSchema? { try schemaFromCatalog(named: name) }
  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    try flaw.looked(up: key, in: schema, reader, body)
  }
  func count(_ request: FetchRequest) throws -> Int { try flaw.counted(request, in: reader) }
  func fetch(_ request: FetchRequest) throws -> any StorageResults { try flaw.found(request, in: reader) }

  func define(_ schema: ModelSchema) throws { try wrapped.define(engineSchema(schema)) }
  func defineDeferringIndexes(_ schema: ModelSchema) throws {
    try wrapped.defineDeferringIndexes(engineSchema(schema))
  }
  func buildIndexes(of schema: ModelSchema) throws -> Bool {
    try wrapped.buildIndexes(of: engineSchema(schema))
  }
  func drop(_ schema: ModelSchema) throws { try wrapped.drop(engineSchema(schema)) }
  func evolve(_ change: SchemaChange) throws {
    if let evolve = flaw.evolve { try evolve(change, self) } else { try wrapped.evolve(change) }
  }
  func insert(_ row: borrowing Row, in schema: ModelSchema) throws { try write(.insert, row, schema) }
  func update(_ row: borrowing Row, in schema: ModelSchema) throws { try write(.update, row, schema) }
  func save(_ row: borrowing Row, in schema: ModelSchema) throws { try write(.save, row, schema) }

  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    let (key, schema) = (flaw.bound(key, in: schema), try engineSchema(schema))
    let isDeleted = try flaw.delete?(key, schema, self) ?? wrapped.delete(key, in: schema)
    touched.append((key, schema))
    return isDeleted
  }

  func delete(_ request: FetchRequest) throws -> Int {
    if let deleteRows = flaw.deleteRows { return try deleteRows(request, self) }
    let schema = try engineSchema(request.schema)
    var keys: [RecordKey] = []
    _ = try flaw.found(request, in: wrapped).read(from: 0, limit: .max) {
      keys.append(try RecordKey(of: $0, in: schema))
    }
    for key in keys {
      touched.append((key, schema))
      _ = try wrapped.delete(key, in: schema)
    }
    return keys.count
  }

  func update(_ request: UpdateRequest) throws -> Int {
    try flaw.updateRows?(request, self) ?? updateEach(request)
  }

  func deleteAll(in schema: ModelSchema) throws -> Int {
    let schema = try engineSchema(schema)
    return try flaw.deleteAll?(schema, self) ?? wrapped.deleteAll(in: schema)
  }

  func nested(_ body: () throws -> Void) throws {
    if let nested = flaw.nested { try nested(self, body) } else { try wrapped.nested(body) }
  }

  /// Restores every written record to its state before the transaction.
  func restoreTouched() throws {
    for (key, schema) in touched {
      if let before = try context.values(of: key, in: schema) {
        try before.withRow { try wrapped.save($0, in: schema) }
      } else {
        _ = try wrapped.delete(key, in: schema)
      }
    }
  }

  private func engineSchema(_ schema: ModelSchema) throws -> ModelSchema {
    try flaw.schema?(schema, wrapped) ?? schema
  }

  private func write(_ verb: WriteVerb, _ row: borrowing Row, _ schema: ModelSchema) throws {
    let values = flaw.bound(try row.values(), in: schema)
    let schema = try engineSchema(schema)
    // The engine rejects a row of another length.
    if let write = flaw.write, values.count == schema.fields.count {
      try write(verb, values, schema, self)
    } else {
      try wrapped.write(verb, values, in: schema)
    }
    touched.append((RecordKey(schema.keyPositions.map { values[$0] }), schema))
  }
}
