import PersistenceDriver

/// A transaction that records its changes for the observers of the store.
///
/// It wraps the engine's transaction directly, so that every write passes through it. It reads a record before a write
/// only if an observer needs its previous state. An error while recording never fails the write.
final class RecordingTransaction: StorageTransactionWrapper, PipelinedTransaction {
  let wrapped: any StorageTransaction
  private let record: CommitRecord
  /// The wrapped transaction, if its insertions run ahead of their answers.
  private lazy var ahead: (any PipelinedTransaction)? = wrapped.pipeline

  init(_ wrapped: any StorageTransaction, _ record: CommitRecord) {
    self.wrapped = wrapped
    self.record = record
  }

  var isPipelining: Bool { ahead != nil }

  func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    try wrapped.insert(row, in: schema)
    note(insertionOf: row, in: schema)
  }

  func insertAhead(_ row: borrowing Row, in schema: ModelSchema) throws {
    if let ahead { try ahead.insertAhead(row, in: schema) } else { try wrapped.insert(row, in: schema) }
    // A refusal undoes the note with the nested transaction.
    note(insertionOf: row, in: schema)
  }

  func waitForInsertions() throws -> Bool { try ahead?.waitForInsertions() ?? true }

  private func note(insertionOf row: borrowing Row, in schema: ModelSchema) {
    guard let model = record.model(schema) else { return }
    guard let key = try? RecordKey(of: row, in: schema) else { return record.discardKeys(of: model) }
    record.note(key, of: model, before: model.absent, after: model.matches(row))
  }

  func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    guard let model = record.model(schema), let key = try? RecordKey(of: row, in: schema) else {
      return try wrapped.update(row, in: schema)
    }
    let before = model.needsRows ? matches(of: key, model) : model.present
    try wrapped.update(row, in: schema)
    record.note(key, of: model, before: before, after: model.matches(row))
  }

  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    guard let model = record.model(schema), let key = try? RecordKey(of: row, in: schema) else {
      return try wrapped.save(row, in: schema)
    }
    let before = matches(of: key, model)
    try wrapped.save(row, in: schema)
    record.note(key, of: model, before: before, after: model.matches(row))
  }

  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    guard let model = record.model(schema) else { return try wrapped.delete(key, in: schema) }
    let before = model.needsRows ? matches(of: key, model) : model.present
    let existed = try wrapped.delete(key, in: schema)
    if existed { record.note(key, of: model, before: before, after: model.absent) }
    return existed
  }

  func delete(_ request: FetchRequest) throws -> Int {
    try recording(request, in: request.schema) { try wrapped.delete(request) }
  }

  func deleteAll(in schema: ModelSchema) throws -> Int {
    try recording(try? FetchRequest(schema), in: schema) { try wrapped.deleteAll(in: schema) }
  }

  func drop(_ schema: ModelSchema) throws {
    guard record.model(schema) != nil else { return try wrapped.drop(schema) }
    let request = try? FetchRequest(schema)
    _ = try recording(request, in: schema) {
      // If the records cannot be counted, the changes are unknown.
      let count = request.flatMap { try? wrapped.count($0) } ?? Int.max
      try wrapped.drop(schema)
      return count
    }
  }

  func evolve(_ change: SchemaChange) throws {
    // Without an observer now, the one that may be added before the commit gets unknown changes.
    let rewrites = try !record.observes(change.stored) || wrapped.cost(of: change) == .rewrite
    try wrapped.evolve(change)
    record.schemaChanged(change, rewrites: rewrites)
  }

  func update(_ request: UpdateRequest) throws -> Int {
    try recording(request.rows, in: request.rows.schema) {
      try wrapped.update(request)
    } after: { key, model in
      model.needsRows ? matches(of: key, model) : model.present
    }
  }

  func nested(_ body: () throws -> Void) throws {
    try record.nested { try wrapped.nested(body) }
  }

  /// Performs a write to the rows of a request, after which none of them exists by default.
  private func recording(
    _ request: FetchRequest?, in schema: ModelSchema, _ write: () throws -> Int,
    after: (RecordKey, CommitRecord.Model) -> [Bool?] = { $1.absent }
  ) throws -> Int {
    guard let model = record.model(schema) else { return try write() }
    let rows = request.flatMap { changing($0, model) }
    let count = try write()
    guard count > 0 else { return 0 }
    guard let rows, rows.count == count else {
      record.discardKeys(of: model)
      return count
    }
    for (key, before) in rows { record.note(key, of: model, before: before, after: after(key, model)) }
    return count
  }

  /// Which observers' conditions the stored record with a key matches.
  private func matches(of key: RecordKey, _ model: CommitRecord.Model) -> [Bool?] {
    var matches = model.absent
    do {
      _ = try wrapped.find(key, in: model.schema) { matches = model.matches($0) }
    } catch {
      return Array(repeating: nil, count: matches.count)
    }
    return matches
  }

  /// The keys of a request's rows with the conditions they match; nil if there are too many, or reading fails.
  private func changing(_ request: FetchRequest, _ model: CommitRecord.Model) -> [(RecordKey, [Bool?])]? {
    var rows: [(RecordKey, [Bool?])] = []
    do {
      let results = try wrapped.fetch(request)
      _ = try results.read(from: 0, limit: model.keyLimit + 1) { row in
        rows.append((try RecordKey(of: row, in: request.schema), model.matches(row)))
      }
    } catch {
      return nil
    }
    return rows.count > model.keyLimit ? nil : rows
  }
}
