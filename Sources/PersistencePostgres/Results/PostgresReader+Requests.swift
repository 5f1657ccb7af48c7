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
    try results(request, selecting: positions)
  }

  private func results(_ request: FetchRequest, selecting positions: [Int]?) throws -> PostgresResults {
    try withSession { session in
      let results = try PostgresResults(request, selecting: positions, in: session)
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
    guard let found = try find(key, in: schema, filling: row) else { return false }
    return try withExtendedLifetime(found) {
      try row.withRow(body)
      return true
    }
  }

  /// Fills a row with a record; returns the result with the row's values, and nil if there is no record.
  func find(_ key: RecordKey, in schema: ModelSchema, filling row: RowBuffer) throws -> PostgresResult? {
    guard let model = try model(for: schema) else { return nil }
    if model.foreign != nil, key.hasForeignText { return nil }
    var parameters = PostgresParameters(isForeign: model.foreign != nil)
    for value in key.values { parameters.add(value) }
    let result = try run(command(model.key(.find), of: model, parameters), "find a \(schema.name)")
    guard result.count > 0 else { return nil }
    do {
      try result.fill(row, row: 0, model.columns)
    } catch let error as PersistenceError {
      throw error.at(model: schema.name, key: key, location: store.location)
    }
    return result
  }
}
