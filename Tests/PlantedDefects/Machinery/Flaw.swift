import PersistenceCore

/// The deviations of a broken context from the contract.
///
/// Each part that is set replaces the correct behavior, in the context, its snapshots and its transactions.
struct Flaw: Sendable {
  /// Changes a value before it reaches the engine: in rows, keys and operands of predicates.
  var bind: (@Sendable (PersistentValue, FieldSchema) -> PersistentValue)?

  /// Changes a value of a written row only.
  var store: (@Sendable (PersistentValue, FieldSchema) -> PersistentValue)?

  /// Changes keys of written rows and of lookups.
  var key: (@Sendable (RecordKey) -> RecordKey)?

  /// Changes the schema that the engine receives; positions of fields stay the same.
  var schema: (@Sendable (ModelSchema, any StorageReader) throws -> ModelSchema)?

  /// Changes the catalog's schema of a model.
  var catalog: (@Sendable (ModelSchema) -> ModelSchema)?

  /// Changes a request before it is answered, also for count and delete.
  var request: (@Sendable (FetchRequest) throws -> FetchRequest)?

  /// Answers a request, also for count and delete.
  var fetch: (@Sendable (FetchRequest, any StorageReader) throws -> any StorageResults)?

  /// Counts a request.
  var count: (@Sendable (FetchRequest, any StorageReader) throws -> Int)?

  /// Changes the results of a request.
  var results: (@Sendable (any StorageResults, FetchRequest) throws -> any StorageResults)?

  /// Finds a record.
  var find: (@Sendable (RecordKey, ModelSchema, any StorageReader) throws -> [PersistentValue]?)?

  /// Writes a row.
  var write: (@Sendable (WriteVerb, [PersistentValue], ModelSchema, FlawedTransaction) throws -> Void)?

  /// Deletes the record of a key.
  var delete: (@Sendable (RecordKey, ModelSchema, FlawedTransaction) throws -> Bool)?

  /// Deletes the rows of a request.
  var deleteRows: (@Sendable (FetchRequest, FlawedTransaction) throws -> Int)?

  /// Sets fields of the rows of a request.
  var updateRows: (@Sendable (UpdateRequest, FlawedTransaction) throws -> Int)?

  /// Deletes all records of a model.
  var deleteAll: (@Sendable (ModelSchema, FlawedTransaction) throws -> Int)?

  /// Changes the schema of a model.
  var evolve: (@Sendable (SchemaChange, FlawedTransaction) throws -> Void)?

  /// Runs a nested transaction.
  var nested: (@Sendable (FlawedTransaction, () throws -> Void) throws -> Void)?

  /// Chooses the reader inside a transaction: correctly, the transaction itself.
  var insideReader: (@Sendable (FlawedTransaction) -> any StorageReader)?

  /// Runs a transaction on the wrapped engine.
  var transaction: (@Sendable (any StorageContext, (any StorageTransaction) throws -> Void) throws -> Void)?

  /// Wraps every read of the context.
  var reading: (@Sendable (() throws -> Void) throws -> Void)?

  /// Closes the wrapped engine.
  var close: (@Sendable (any StorageContext) throws -> Void)?

  /// Changes the declared capabilities.
  var capabilities: (@Sendable (inout Capabilities) -> Void)?
}

/// A kind of write of one row.
enum WriteVerb: Sendable {
  case insert, update, save
}

extension Flaw {
  func catalog(of reader: any StorageReader) throws -> [ModelSchema] {
    let models = try reader.catalog()
    return catalog.map(models.map) ?? models
  }

  func found(_ request: FetchRequest, in reader: any StorageReader) throws -> any StorageResults {
    let request = try adapted(request, reader)
    let results = try fetch?(request, reader) ?? reader.fetch(request)
    return try self.results?(results, request) ?? results
  }

  func counted(_ request: FetchRequest, in reader: any StorageReader) throws -> Int {
    if let count { return try count(adapted(request, reader), reader) }
    guard fetch == nil, results == nil else { return try found(request, in: reader).count() }
    return try reader.count(adapted(request, reader))
  }

  func looked(
    up key: RecordKey, in schema: ModelSchema, _ reader: any StorageReader,
    _ body: (borrowing Row) throws -> Void
  ) throws -> Bool {
    let engineSchema = try self.schema?(schema, reader) ?? schema
    let key = bound(key, in: schema)
    guard let find else { return try reader.find(key, in: engineSchema, body) }
    guard let values = try find(key, engineSchema, reader) else { return false }
    try values.withRow(body)
    return true
  }

  /// Returns the key that the engine receives.
  func bound(_ key: RecordKey, in schema: ModelSchema) -> RecordKey {
    guard bind != nil || self.key != nil, key.values.count == schema.keyPositions.count else { return key }
    let values = zip(key.values, schema.keyPositions).map { bind?($0, schema.fields[$1]) ?? $0 }
    return self.key?(RecordKey(values)) ?? RecordKey(values)
  }

  /// Returns the values of a row that the engine receives.
  func bound(_ row: [PersistentValue], in schema: ModelSchema) -> [PersistentValue] {
    // The engine rejects a row of another length.
    guard row.count == schema.fields.count else { return row }
    var values = zip(row, schema.fields).map { value, field in
      let value = bind?(value, field) ?? value
      return store?(value, field) ?? value
    }
    if let key {
      let changed = key(RecordKey(schema.keyPositions.map { values[$0] }))
      for (value, position) in zip(changed.values, schema.keyPositions) { values[position] = value }
    }
    return values
  }

  private func adapted(_ request: FetchRequest, _ reader: any StorageReader) throws -> FetchRequest {
    var request = request
    if let schema = try schema?(request.schema, reader), schema.identity != request.schema.identity {
      request = try request.with { $0.schema = schema }
    }
    if let bind {
      let schema = request.schema
      request = try request.with { parts in
        parts.predicate = parts.predicate?.mapped { node in
          guard case .comparison(let field, let comparison, let value) = node,
            let known = schema.field(named: field)
          else { return node }
          return .comparison(field: field, comparison, bind(value, known))
        }
      }
    }
    return try self.request?(request) ?? request
  }
}
