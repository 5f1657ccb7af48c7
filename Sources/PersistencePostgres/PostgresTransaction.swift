import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// An open transaction of a store of this package.
///
/// An exclusive one is the only writer. A replayable one is serializable, and changes no tables: it runs again as an
/// exclusive one for that.
final class PostgresTransaction: PipelinedTransaction, PostgresWriter {
  let session: PostgresSession
  /// When the transaction stops waiting for locks.
  let deadline: ContinuousClock.Instant
  private var isOpen = true

  /// Whether a table or an index was dropped from the catalog, and waits to be removed.
  var hasDropped = false

  init(_ session: PostgresSession, waitingUntil deadline: ContinuousClock.Instant) {
    self.session = session
    self.deadline = deadline
  }

  var store: PostgresStore { session.store }

  /// Ends the transaction before it is committed; throws if a statement has failed, so that the server would roll back.
  func end() throws {
    try requireOpen()
    guard try !session.takeRefusal() else {
      throw PersistenceError(
        .duplicateKey, "an insertion was refused, and its answer was not awaited", location: store.location)
    }
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
    let (model, parameters) = try prepare(row, schema)
    let changes = try run(model.key(.insertIfAbsent), model, parameters, mayCollide: false)
    guard changes == 0 else { return }
    let key = try RecordKey(of: row, in: schema)
    guard try !session.find(key, in: schema, { _ in }) else {
      throw PersistenceError.duplicateKey(key, in: schema)
    }
    throw try violation(of: row, model)
      ?? PersistenceError(
        .invalidRequest, "an index of another program rejects the record", model: schema.name, key: key)
  }

  var isPipelining: Bool { true }

  func insertAhead(_ row: borrowing Row, in schema: ModelSchema) throws {
    if depth == 0 {
      guard session.isDeferred else { return try insert(row, in: schema) }
      let (model, parameters) = try prepare(row, schema)
      return try enqueue(.insert, model, parameters)
    }
    let model = try check(row, schema)
    session.hasWritten = true
    if model.canCopy { return try session.copy(row, into: model) }
    let command = session.command(model.key(.insertIfAbsent), of: model, Self.parameters(row, schema))
    try session.enqueue(command, model.writeAction, isInsertion: true)
  }

  func waitForInsertions() throws -> Bool {
    try requireOpen()
    return try !session.takeRefusal()
  }

  func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    let (model, parameters) = try prepare(row, schema)
    let changes = try writing(row, model) {
      try run(model.key(.update), model, parameters, mayCollide: model.hasUnique)
    }
    guard changes > 0 else { throw PersistenceError.notFound(try RecordKey(of: row, in: schema), in: schema) }
  }

  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    let (model, parameters) = try prepare(row, schema)
    if !model.hasUnique || (session.isDeferred && depth == 0) {
      // Nothing can collide, or a collision makes the transaction run again: it needs no answer for each record.
      return try enqueue(.save, model, parameters)
    }
    _ = try writing(row, model) { try run(model.key(.save), model, parameters, mayCollide: model.hasUnique) }
  }

  /// Runs a write of one record, at the latest with the next statement or the commit.
  private func enqueue(_ kind: StatementKey.Kind, _ model: PostgresModel, _ parameters: PostgresParameters)
    throws
  {
    session.hasWritten = true
    let command = session.command(model.key(kind), of: model, parameters)
    try session.enqueue(command, model.writeAction)
  }

  /// Runs a write, and names the index that rejects it.
  private func writing(_ row: borrowing Row, _ model: PostgresModel, _ body: () throws -> Int) throws -> Int {
    do {
      return try body()
    } catch let error as PersistenceError where error.isPostgres("23505") {
      if let violation = try violation(of: row, model) { throw violation }
      // The record in the way may be newer than the moment of this transaction.
      try session.requireAlone()
      throw error.at(model: model.schema.name)
    }
  }

  /// Runs a statement that writes, after which the transaction goes on if it may collide with a unique index.
  func run(
    _ key: StatementKey, _ model: PostgresModel, _ parameters: PostgresParameters, mayCollide: Bool
  ) throws -> Int {
    session.hasWritten = true
    let command = session.command(key, of: model, parameters)
    let action = model.writeAction
    // If a deferred one collides, the whole transaction runs again.
    let isGuarded = mayCollide && !(session.isDeferred && depth == 0)
    do {
      return try (isGuarded ? guarded(command, action) : session.run(command, action)).changes
    } catch let error as PersistenceError {
      if mayCollide, !isGuarded, session.conflict == nil { session.conflict = .stepByStep }
      throw error.at(model: model.schema.name)
    }
  }

  /// Runs a statement that may fail; the transaction is then as it was before.
  func guarded(_ command: PostgresCommand, _ action: String) throws -> PostgresResult {
    let begin = PostgresCommand("SAVEPOINT one", prepared: -8)
    // A failure of these belongs to the whole transaction.
    try session.sendBegin()
    try session.flush(action)
    do {
      let results = try session.run([begin, command, PostgresCommand("RELEASE one", prepared: -9)], action)
      return results[1]
    } catch {
      try rollBack(to: "one")
      throw error
    }
  }

  private func rollBack(to savepoint: String) throws {
    guard !session.connection.isBroken else { return }
    // All that waits was written since the savepoint: its statement was sent at once.
    session.discardWaiting()
    session.recovered()
    session.invalidateCursors()
    _ = try session.run(
      [PostgresCommand("ROLLBACK TO \(savepoint)"), PostgresCommand("RELEASE \(savepoint)")],
      "roll back a part of a transaction")
  }

  func nested(_ body: () throws -> Void) throws {
    try requireOpen()
    let (catalog, hadDropped) = (session.catalog, hasDropped)
    depth += 1
    defer { depth -= 1 }
    let savepoint = "nested_\(depth)"
    _ = try session.run(PostgresCommand("SAVEPOINT \(savepoint)"), "begin a nested transaction")
    do {
      try body()
      try requireOpen()
      try session.requireHealth()
    } catch {
      session.catalog = catalog
      hasDropped = hadDropped
      if isOpen { try rollBack(to: savepoint) }
      throw error
    }
    _ = try session.run(PostgresCommand("RELEASE \(savepoint)"), "end a nested transaction")
  }

  /// Runs a nested transaction that changes tables or the catalog, beside which no other writer may run.
  func changingTables(_ body: () throws -> Void) throws {
    try session.requireAlone()
    try nested(body)
  }

  private var depth = 0
}

/// Values of one record.
extension PostgresTransaction {
  /// Checks a row, and copies its values.
  private func prepare(_ row: borrowing Row, _ schema: ModelSchema) throws -> (
    PostgresModel, PostgresParameters
  ) {
    (try check(row, schema), Self.parameters(row, schema))
  }

  private static func parameters(_ row: borrowing Row, _ schema: ModelSchema) -> PostgresParameters {
    // A number takes 8 bytes, a UUID 16. A text with U+0000 or U+0001 takes more than its own bytes.
    var size = 0
    for position in 0..<row.count { size += max(16, row[position].borrowedBytes.count) }
    var parameters = PostgresParameters(count: row.count, byteCount: size)
    for position in 0..<row.count { parameters.add(row[position], of: schema.fields[position].kind) }
    return parameters
  }

  /// Checks a row, and makes room for long values in the indexes.
  private func check(_ row: borrowing Row, _ schema: ModelSchema) throws -> PostgresModel {
    try requireOpen()
    try schema.validate(row)
    guard var model = try session.model(for: schema) else {
      throw PersistenceError(
        .invalidRequest, "cannot write a record of \(schema.name): define the model first", model: schema.name
      )
    }
    var total = 0
    for position in 0..<row.count { total += Self.size(of: row[position]) }
    // An entry of an index has each field at most once, and the key at most twice.
    if model.hasLongIndexed, total > Capabilities.postgresKeyLimit / 2 {
      let sizes = (0..<row.count).map { Self.size(of: row[$0]) }
      if try requireRoom(for: sizes, model), let changed = try session.model(for: schema) { model = changed }
    }
    // Before the values are copied, since one alone may exceed the limit.
    guard total <= Capabilities.postgresValueLimit else {
      throw PersistenceError(
        .valueTooLarge,
        "a record of \(schema.name) has \(total) bytes; its limit is \(Capabilities.postgresValueLimit)",
        model: schema.name, key: try RecordKey(of: row, in: schema))
    }
    return model
  }

  /// The number of bytes that a value takes in the store, about.
  static func size(of cell: RowCell) -> Int {
    switch cell.tag {
    case .null: 0
    case .text: PostgresText.storedCount(of: cell.borrowedBytes)
    case .bytes, .decimal, .document: cell.borrowedBytes.count
    case .bool: 1
    case .integer, .double, .date: 8
    case .uuid: 16
    }
  }

  /// Throws if the key is too long, and rebuilds the indexes in which the values of a record have no room; returns whether
  /// there were any.
  private func requireRoom(for sizes: [Int], _ model: PostgresModel) throws -> Bool {
    let limit = Capabilities.postgresKeyLimit
    let key = model.schema.keyPositions.reduce(0) { $0 + sizes[$1] }
    guard key <= limit else {
      throw PersistenceError(
        .valueTooLarge,
        "the key of a \(model.schema.name) has \(key) bytes in the store; its limit is \(limit); use a shorter one",
        model: model.schema.name, field: model.schema.key.joined(separator: ", "))
    }
    let narrow = model.indexes.indices.filter { number in
      let index = model.indexes[number]
      guard !index.takesLongValues else { return false }
      let entry = index.positions.reduce(0) { $0 + sizes[$1] }
      return entry + (index.isUnique ? 0 : key) > limit
    }
    guard !narrow.isEmpty else { return false }
    try widen(narrow, of: model.layout)
    return true
  }

  /// The unique index that rejected a row, found by looking for another record with the same values.
  private func violation(of row: borrowing Row, _ model: PostgresModel) throws -> PersistenceError? {
    let key = try RecordKey(of: row, in: model.schema)
    for (number, index) in model.schema.indexes.enumerated() where index.isUnique {
      let positions = model.table.indexes[number]
      let values = try positions.map { try row.value(at: $0) }
      guard !values.contains(where: { $0.isNull }) else { continue }
      var parameters = PostgresParameters()
      for value in values { parameters.add(value) }
      let result = try session.run(
        session.command(model.key(.holder, index: number), of: model, parameters), "look for a unique value")
      guard result.count > 0 else { continue }
      let holder = RecordKey(
        try model.table.key.enumerated().map {
          try result.value(0, $0.offset, model.columns.readers[$0.element])
        })
      if holder != key {
        return PersistenceError.uniqueViolation(values, of: index, in: model.schema, key: key)
      }
    }
    return nil
  }
}
