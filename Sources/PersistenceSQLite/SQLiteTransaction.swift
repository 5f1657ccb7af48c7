import CSQLite
import PersistenceDriver
import PersistenceSQL
import PersistenceDriverSupport

/// An open transaction on the writing connection.
final class SQLiteTransaction: StorageTransaction, SQLiteReader {
  let connection: SQLiteConnection
  private var isOpen = true

  /// The error after which SQLite rolled back the whole transaction, for example because the disk is full.
  private var failure: PersistenceError?

  init(on connection: SQLiteConnection) { self.connection = connection }

  /// Ends the transaction before it is committed; throws if SQLite has rolled it back.
  func end() throws {
    try requireOpen()
    isOpen = false
  }

  /// Ends the transaction before it is rolled back.
  func abandon() { isOpen = false }

  private func requireOpen() throws {
    guard isOpen else { throw PersistenceError.closed("the transaction") }
    if let failure { throw failure }
  }

  func withReader<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    try requireOpen()
    do {
      return try body(connection)
    } catch {
      if connection.isOutsideTransaction {
        failure =
          error as? PersistenceError
          ?? PersistenceError(
            .cancelled, "SQLite rolled the transaction back, because its work was cancelled",
            location: connection.store.location)
      }
      throw error
    }
  }

  func define(_ schema: ModelSchema) throws { try define(schema, awaitingIndexes: false) }

  func defineDeferringIndexes(_ schema: ModelSchema) throws {
    try define(schema, awaitingIndexes: !schema.indexes.isEmpty)
  }

  private func define(_ schema: ModelSchema, awaitingIndexes: Bool) throws {
    // Defining a known model again costs one lookup.
    let isKnown = try withReader { try $0.model(for: schema) != nil }
    if isKnown { return }
    try nested { try withReader { try $0.create(schema, awaitingIndexes: awaitingIndexes) } }
  }

  func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    try write(row, in: schema, isInsert: true) { $0.insert }
  }

  func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    try write(row, in: schema) { $0.update }
    guard connection.changes > 0 else {
      throw PersistenceError.notFound(try RecordKey(of: row, in: schema), in: schema)
    }
  }

  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    let model = try write(row, in: schema) { $0.save }
    if model.savesByUpdate, connection.changes == 0 { try insert(row, in: schema) }
  }

  /// Whether a trigger may ignore a write without an error, or fail and keep a part of it (`RAISE`).
  private var mayIgnore: Bool { connection.hasTriggers }

  /// Throws if a trigger has ignored the write of a row, which changed nothing.
  private func requireEffect(of key: StatementKey, _ row: borrowing Row, _ model: SQLiteModel) throws {
    let schema = model.schema
    let record = try RecordKey(of: row, in: schema)
    let isThere = try exists(record, model)
    // An update finds no record, and a record of key fields alone is saved by not inserting it again.
    if key == model.update, !isThere { return }
    if key == model.save, isThere, schema.fields.count == schema.key.count { return }
    throw PersistenceError(
      .invalidRequest,
      "a trigger of the table has ignored the write; change the trigger, or write another record",
      model: schema.name, key: record, location: connection.store.location)
  }

  private func exists(_ key: RecordKey, _ model: SQLiteModel) throws -> Bool {
    try connection.withStatement(model.find, of: model) { statement in
      try statement.bind(key)
      return try statement.step()
    }
  }

  /// Runs a statement that writes, as a whole or not at all.
  ///
  /// SQLite keeps what a statement did before a trigger failed or a row became too long. `undoesItself` means that it
  /// undoes a failed statement of this kind by itself, as long as no trigger fires.
  private func whole(undoesItself: Bool = true, _ body: () throws -> Void) throws {
    // A closure that receives rows of an interruptible read can write.
    try connection.uninterruptibly {
      if undoesItself, !mayIgnore { try body() } else { try nested(body) }
    }
  }

  /// Runs one of the statements that write a row.
  ///
  /// If a constraint or a trigger of the table rejects the row, only that statement is rolled back.
  @discardableResult
  private func write(
    _ row: borrowing Row, in schema: ModelSchema, isInsert: Bool = false,
    _ statementKey: (SQLiteModel) -> StatementKey
  ) throws -> SQLiteModel {
    try requireOpen()
    try schema.validate(row)
    guard let model = try connection.model(for: schema) else {
      throw PersistenceError(
        .invalidRequest, "cannot write a record of \(schema.name): define the model first", model: schema.name
      )
    }
    if !model.textConverters.isEmpty { try model.requireUnconverted(row) }
    do {
      let key = statementKey(model)
      try whole {
        try connection.withStatement(key, of: model) { statement in
          for position in 0..<model.cells.count {
            try statement.bind(cell: row[position], at: Int32(truncatingIfNeeded: position + 1))
          }
          try statement.run()
        }
        if mayIgnore, connection.changes == 0 { try requireEffect(of: key, row, model) }
      }
      return model
    } catch let error as PersistenceError {
      if connection.isOutsideTransaction { failure = error }
      guard Self.isConstraintViolation(error) else { throw error.at(model: schema.name) }
      if isInsert { try requireNoRecord(ofKeyOf: row, model) }
      throw try violation(of: row, model) ?? error.at(model: schema.name)
    }
  }

  private func requireNoRecord(ofKeyOf row: borrowing Row, _ model: SQLiteModel) throws {
    let key = try RecordKey(of: row, in: model.schema)
    if try exists(key, model) { throw PersistenceError.duplicateKey(key, in: model.schema) }
  }

  /// The unique index that rejected a row, found by looking for another record with the same values.
  private func violation(of row: borrowing Row, _ model: SQLiteModel) throws -> PersistenceError? {
    let key = try RecordKey(of: row, in: model.schema)
    for (number, index) in model.schema.indexes.enumerated() where index.isUnique {
      let values = try model.table.indexes[number].map { try row.value(at: $0) }
      guard !values.contains(where: { $0.isNull }) else { continue }
      let statementKey = StatementKey(.holder, model: model.number, index: number)
      let holder = try connection.withStatement(statementKey, of: model) { statement -> RecordKey? in
        for (offset, value) in values.enumerated() { try statement.bind(value, at: Int32(offset + 1)) }
        return try statement.step() ? RecordKey(try statement.values(model.table.key)) : nil
      }
      if let holder, holder != key {
        return PersistenceError.uniqueViolation(values, of: index, in: model.schema, key: key)
      }
    }
    return nil
  }

  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    try key.validate(for: schema)
    return try change(schema) { model in
      try connection.withStatement(model.deleteKey, of: model) { statement in
        try statement.bind(key)
        try statement.run()
      }
    } > 0
  }

  func delete(_ request: FetchRequest) throws -> Int {
    try change(request.schema) { model in
      let query = try SQLQuery(request, includingAnchor: true, model: model.number)
      let statement = query.delete(limit: request.limit, offset: request.offset)
      try connection.withStatement(statement, of: model) { try $0.run() }
    }
  }

  /// Sets fields by one statement.
  ///
  /// All rows get the same values, so SQLite finds a duplicate in a unique index only if the final state has one.
  func update(_ request: UpdateRequest) throws -> Int {
    let (rows, schema) = (request.rows, request.rows.schema)
    do {
      return try change(schema, undoesItself: false) { model in
        let query = try SQLQuery(rows, includingAnchor: true, model: model.number)
        let values = request.assignments.compactMap { assignment in
          schema.position(of: assignment.field).map { (position: $0, value: assignment.value) }
        }
        if !model.textConverters.isEmpty { try model.requireUnconverted(values) }
        let statement = query.set(values, limit: rows.limit, offset: rows.offset)
        try connection.withStatement(statement, of: model) { try $0.run() }
      }
    } catch let error as PersistenceError where Self.isConstraintViolation(error) {
      // Nothing is changed. Updating one record at a time reveals which one is rejected, and why.
      return try updateEach(request)
    }
  }

  /// Whether a constraint of the table rejected a write.
  static func isConstraintViolation(_ error: PersistenceError) -> Bool {
    error.engineError.map { Int32(truncatingIfNeeded: $0.code) & 0xFF == SQLITE_CONSTRAINT } ?? false
  }

  func deleteAll(in schema: ModelSchema) throws -> Int {
    try change(schema) { model in
      try connection.withStatement(model.deleteAll, of: model) { try $0.run() }
    }
  }

  /// Runs a statement that changes or deletes rows, and returns how many.
  private func change(
    _ schema: ModelSchema, undoesItself: Bool = true, _ body: (SQLiteModel) throws -> Void
  ) throws -> Int {
    try withReader { _ in
      guard let model = try connection.model(for: schema) else { return 0 }
      try whole(undoesItself: undoesItself) { try body(model) }
      return connection.changes
    }
  }

  func nested(_ body: () throws -> Void) throws {
    try requireOpen()
    // A closure that receives rows of an interruptible read can call this method.
    try connection.uninterruptibly { try connection.run(.savepoint) }
    do {
      try body()
      try requireOpen()
    } catch {
      try rollBackNested()
      throw error
    }
    try connection.uninterruptibly { try connection.run(.release) }
  }

  /// Rolls back to the savepoint, and reads the catalog again if it has changed since.
  private func rollBackNested() throws {
    guard !connection.isOutsideTransaction else { return }
    try connection.uninterruptibly {
      try connection.run(.rollbackToSavepoint)
      try connection.run(.release)
      // SQLite rolls its schema version back as well, and each change of the catalog increments it.
      try connection.refreshCatalog()
    }
  }
}
