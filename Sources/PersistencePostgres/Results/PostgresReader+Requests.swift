import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

extension PostgresReader {
  /// Finds a record by its key.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try key.validate(for: schema)
    return try withSession { try $0.find(key, in: schema, body) }
  }

  /// The rows of a request, read from this snapshot or transaction.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    try results(request, selecting: nil)
  }

  /// Selected fields of a request's rows, read from this snapshot or transaction.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try request.schema.requirePositions(positions)
    return try results(request, selecting: positions)
  }

  private func results(_ request: FetchRequest, selecting positions: [Int]?) throws -> PostgresResults {
    try withSession { session in
      let results = try PostgresResults(
        request, selecting: positions, of: session.model(for: request.schema), session.store.dialect)
      try results.attach(to: self, movingTo: nil)
      return results
    }
  }

  /// How many rows a request has; the server counts them, unless the client must evaluate a part of the condition.
  public func count(_ request: FetchRequest) throws -> Int {
    try withReadingSession { session in
      guard let model = try session.model(for: request.schema) else { return 0 }
      return try session.count(request, of: model)
    }
  }
}

extension PostgresSession {
  /// Finds a record by its key, with a statement that is prepared once.
  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    let row = RowBuffer(count: schema.fields.count)
    return try row.withRow(of: find(key, in: schema, filling: row), body)
  }

  /// Fills a row with a record; returns the result with the row's values, and nil if there is no record.
  func find(_ key: RecordKey, in schema: ModelSchema, filling row: RowBuffer) throws -> PostgresResult? {
    guard let model = try model(for: schema) else { return nil }
    if model.foreign != nil, key.hasForeignText { return nil }
    let parameters = PostgresParameters.key(key, isForeign: model.foreign != nil)
    let result = try run(command(model.key(.find), of: model, parameters), model.findAction, reads: true)
    guard result.count > 0 else { return nil }
    do {
      try result.fill(row, row: 0, model.columns)
    } catch let error as PersistenceError {
      throw error.at(model: schema.name, key: key, location: store.location)
    }
    return result
  }
}

extension RowBuffer {
  /// Calls a closure with the row of the result that filled it; returns false if there is none.
  func withRow(of result: PostgresResult?, _ body: (borrowing Row) throws -> Void) rethrows -> Bool {
    guard let result else { return false }
    try withExtendedLifetime(result) { try withRow(body) }
    return true
  }
}
