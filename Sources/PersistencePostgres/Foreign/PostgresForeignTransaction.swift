import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// An open transaction on tables of other programs, which may write at the same time.
///
/// It is serializable: the server refuses what no order of the transactions of this package would give.
final class PostgresForeignTransaction: PostgresWriter {
  let session: PostgresSession
  private var isOpen = true
  private var depth = 0

  /// False: tables of other programs are not dropped.
  var hasDropped: Bool { false }

  init(_ session: PostgresSession) { self.session = session }

  private var store: PostgresStore { session.store }

  /// Ends the transaction before it is committed; throws if a statement has failed, so that the server would roll back.
  func end() throws {
    try requireOpen()
    isOpen = false
    try session.requireHealth()
  }

  /// Ends the transaction before it is rolled back.
  func abandon() { isOpen = false }

  func requireOpen() throws {
    guard isOpen else { throw PersistenceError.closed("the transaction") }
  }

  func withSession<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
    try requireOpen()
    return try body(session)
  }

  func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    let model = try model(for: row, schema)
    guard try write(.insert, row, model) > 0 else {
      throw PersistenceError(
        .invalidRequest,
        "a trigger or a rule of the table “\(model.table.name)” kept the record out; ask the program that made it",
        model: schema.name, key: try RecordKey(of: row, in: schema))
    }
  }

  func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    let model = try model(for: row, schema)
    guard try change(row, model) else {
      throw PersistenceError.notFound(try RecordKey(of: row, in: schema), in: schema)
    }
  }

  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    // ON CONFLICT would replace the record of another key if the key's equality is not that of bytes.
    let model = try model(for: row, schema)
    guard try !change(row, model) else { return }
    do {
      try insert(row, in: schema)
    } catch let error as PersistenceError where error.code == .duplicateKey {
      var error = error
      error.code = .busy
      error.message = "another program has inserted the record meanwhile; retry the transaction"
      throw session.notingConflict(error)
    }
  }

  /// Replaces a record; returns false if there is none.
  private func change(_ row: borrowing Row, _ model: PostgresModel) throws -> Bool {
    guard model.table.columns.count > model.table.key.count else {
      return try session.find(RecordKey(of: row, in: model.schema), in: model.schema) { _ in }
    }
    return try write(.update, row, model) > 0
  }

  private func write(_ kind: StatementKey.Kind, _ row: borrowing Row, _ model: PostgresModel) throws -> Int {
    var parameters = PostgresParameters(isForeign: true)
    for position in 0..<row.count { parameters.add(row[position], of: model.schema.fields[position].kind) }
    do {
      return try guarded(
        session.command(model.key(kind), of: model, parameters), "write a \(model.schema.name)", model
      )
      .changes
    } catch let error as PersistenceError where error.isRejection {
      throw try rejection(of: row, model, error, isInsertion: kind == .insert)
    }
  }

  /// The model of a row, whose values its columns can store.
  private func model(for row: borrowing Row, _ schema: ModelSchema) throws -> PostgresModel {
    try requireOpen()
    try schema.validate(row)
    guard let model = try session.model(for: schema), let columns = model.foreign else {
      throw PersistenceError(
        .invalidRequest, "cannot write a record of \(schema.name): define the model first", model: schema.name
      )
    }
    try requireTable(model)
    var total = 0
    for position in 0..<row.count {
      do {
        try columns[position].requireStorable(row[position])
      } catch let error as PersistenceError {
        let key = try RecordKey(of: row, in: schema)
        throw error.at(model: schema.name, key: key, location: store.location)
      }
      if [.text, .bytes, .decimal].contains(row[position].tag) { total += row[position].borrowedBytes.count }
    }
    guard total <= Capabilities.postgresValueLimit else {
      throw PersistenceError(
        .valueTooLarge,
        "a record of \(schema.name) has \(total) bytes; its limit is \(Capabilities.postgresValueLimit)",
        model: schema.name, key: try RecordKey(of: row, in: schema))
    }
    return model
  }

  func requireTable(_ model: PostgresModel) throws {
    guard model.isView else { return }
    throw PersistenceError(
      .unsupported, "“\(model.table.name)” is a view, which is only read; write to the tables that it shows",
      model: model.schema.name, location: store.location)
  }
}

/// Parts of the transaction.
extension PostgresForeignTransaction {
  /// Runs a statement that may fail; the transaction is then as it was before.
  func guarded(_ command: PostgresCommand, _ action: String, _ model: PostgresModel) throws -> PostgresResult
  {
    session.hasWritten = true
    let begin = PostgresCommand("SAVEPOINT one", prepared: -8)
    do {
      let results = try session.run([begin, command, PostgresCommand("RELEASE one", prepared: -9)], action)
      return results[1]
    } catch {
      try rollBack(to: "one")
      throw (error as? PersistenceError)?.at(model: model.schema.name) ?? error
    }
  }

  private func rollBack(to savepoint: String) throws {
    guard !session.connection.isBroken else { return }
    session.recovered()
    session.invalidateCursors()
    _ = try session.run(
      [PostgresCommand("ROLLBACK TO \(savepoint)"), PostgresCommand("RELEASE \(savepoint)")],
      "roll back a part of a transaction")
  }

  func nested(_ body: () throws -> Void) throws {
    try requireOpen()
    depth += 1
    defer { depth -= 1 }
    let savepoint = "nested_\(depth)"
    _ = try session.run(PostgresCommand("SAVEPOINT \(savepoint)"), "begin a nested transaction")
    do {
      try body()
      try requireOpen()
      try session.requireHealth()
    } catch {
      if isOpen { try rollBack(to: savepoint) }
      throw error
    }
    _ = try session.run(PostgresCommand("RELEASE \(savepoint)"), "end a nested transaction")
  }
}

/// Schemas, which belong to other programs.
extension PostgresForeignTransaction {
  func define(_ schema: ModelSchema) throws {
    guard try withSession({ try $0.model(for: schema) }) == nil else { return }
    throw session.absentTable(of: schema)
  }

  func defineDeferringIndexes(_ schema: ModelSchema) throws { try define(schema) }

  func buildIndexes(of schema: ModelSchema) throws -> Bool { true }

  func drop(_ schema: ModelSchema) throws {
    guard try withSession({ try $0.model(for: schema) }) != nil else { return }
    throw session.foreignTable(of: schema)
  }

  func evolve(_ change: SchemaChange) throws {
    try requireOpen()
    throw session.foreignTable(of: change.stored)
  }
}

extension PostgresSession {
  /// The error for a change of another program's table.
  func foreignTable(of schema: ModelSchema) -> PersistenceError {
    PersistenceError(
      .unsupported,
      "another program made the table of \(schema.name); use that program to change or remove it",
      model: schema.name, location: store.location)
  }

  /// The error for a model without a table.
  func absentTable(of schema: ModelSchema) -> PersistenceError {
    let schemaName = store.configuration.schema
    let advice =
      schema.isReserved
      ? "this package keeps no records of its own in it, which references and migrations need"
      : "create the table “\(schema.name)” with them, or open another schema"
    return PersistenceError(
      .unsupported,
      "the schema “\(schemaName)” belongs to other programs, and nothing is created in it; \(advice)",
      model: schema.name, location: store.location)
  }
}
