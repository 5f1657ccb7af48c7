import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// The store at one moment.
final class PostgresSnapshot: StorageSnapshot, PostgresReader {
  private let pin: PostgresPin

  init(_ pin: PostgresPin) { self.pin = pin }

  func withSession<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
    try pin.withSession(body)
  }
}

/// The reading half of contexts, snapshots and transactions, which provide the session.
protocol PostgresReader: StorageReader {
  /// Calls a closure with a session whose catalog is that of its moment.
  func withSession<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result
}

extension PostgresReader {
  /// The schemas of all models.
  public func catalog() throws -> [ModelSchema] {
    try withSession { session in
      try session.verify()
      let names = session.catalog.layouts.keys.sorted()
      return try names.compactMap { try session.store.table($0, in: session.catalog)?.schema }
    }
  }

  /// The schema of one model.
  public func schema(named name: String) throws -> ModelSchema? {
    try withSession { session in
      try session.verify()
      return try session.store.table(StoredName(name), in: session.catalog)?.schema
    }
  }

  /// The tables, views and triggers of the schema that models do not represent.
  public func unmappedObjects() throws -> [UnmappedObject] {
    try withSession { try $0.unmappedObjects() }
  }

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
    try withSession { session in
      guard let model = try session.model(for: request.schema) else { return 0 }
      return try session.count(request, of: model)
    }
  }

  /// How the server executes a request.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    try withSession { session in
      guard let model = try session.model(for: request.schema) else {
        try session.verify()
        return QueryPlan(access: .engine("the store does not hold the model"), ordering: .byEngine)
      }
      return try session.plan(for: request, of: model)
    }
  }

  /// The plan for a selection of fields.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try planForWholeRows(request, selecting: positions)
  }

  /// The cost of a change of schema.
  public func cost(of change: SchemaChange) throws -> EvolutionCost {
    try withSession { try PostgresEvolution(change, in: $0).cost }
  }

  /// The indexes of a model that wait to be built.
  public func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] {
    try withSession { try $0.model(for: schema)?.layout.unbuiltIndexes ?? [] }
  }
}

extension PostgresSession {
  /// Finds a record by its key, with a statement that is prepared once.
  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    guard let model = try model(for: schema) else { return false }
    var parameters = PostgresParameters()
    for value in key.values { parameters.add(value) }
    let result = try run(command(model.key(.find), of: model, parameters), "find a \(schema.name)")
    guard result.count > 0 else { return false }
    let row = RowBuffer(count: schema.fields.count)
    do {
      try result.fill(row, row: 0, model.columns)
    } catch let error as PersistenceError {
      throw error.at(model: schema.name, key: key, location: store.location)
    }
    try row.withRow(body)
    return true
  }
}
