import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL
import Synchronization

/// The store at one moment.
final class SQLiteSnapshot: StorageSnapshot, SQLiteReader {
  private let transaction: SQLiteSharedReadTransaction

  init(_ transaction: SQLiteSharedReadTransaction) {
    self.transaction = transaction
    transaction.users.add(1, ordering: .relaxed)
  }

  deinit { transaction.users.subtract(1, ordering: .relaxed) }

  func withReader<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    try transaction.withConnection(body)
  }
}

/// The reading half of contexts, snapshots and transactions, which provide the connection.
protocol SQLiteReader: StorageReader {
  /// Calls a closure with a connection that has an open transaction and an up-to-date catalog.
  func withReader<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result
}

extension SQLiteReader {
  /// Calls a closure that only reads, and that an interruption ends, inside transactions too.
  @inline(__always)
  func withInterruptibleReader<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    try withReader { connection in try connection.interruptibly { try body(connection) } }
  }

  /// The schemas of all models, including those of foreign tables.
  public func catalog() throws -> [ModelSchema] { try withReader { try $0.schemas() } }

  /// The schema of one model, derived on first use.
  public func schema(named name: String) throws -> ModelSchema? {
    try withReader { try $0.schema(of: StoredName(name)) }
  }

  /// The objects of the file that models do not represent, such as views and triggers.
  public func unmappedObjects() throws -> [UnmappedObject] {
    try withReader { try $0.unmappedObjects() }
  }

  /// Finds a record by its key.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try key.validate(for: schema)
    return try withReader { try $0.find(key, in: schema, body) }
  }

  /// The rows of a request, read from this snapshot or transaction.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    try SQLiteResults(request, in: self)
  }

  /// Selected fields of a request's rows, read from this snapshot or transaction.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try SQLiteResults(request, selecting: positions, in: self)
  }

  /// How many rows a request has; SQLite counts them.
  public func count(_ request: FetchRequest) throws -> Int {
    try withInterruptibleReader { connection in
      guard let model = try connection.model(for: request.schema) else { return 0 }
      return try connection.count(request, of: model)
    }
  }

  /// How SQLite executes a request.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    try withReader { connection in
      guard let model = try connection.model(for: request.schema) else {
        return QueryPlan(access: .engine("the store does not hold the model"), ordering: .byEngine)
      }
      return try connection.plan(for: request, of: model)
    }
  }

  /// The cost of a change of schema: only what `ALTER TABLE` cannot do rewrites records.
  public func cost(of change: SchemaChange) throws -> EvolutionCost {
    try withReader { try $0.evolution(for: change).cost }
  }

  /// The indexes of a model that wait to be built, so that the file does not contain them yet.
  public func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] {
    try withReader { connection in
      guard try connection.model(for: schema) != nil,
        let layout = connection.catalog?.layouts[StoredName(schema.name)]
      else { return [] }
      return try SQLiteLayout(layout).unbuiltIndexes
    }
  }

  /// The plan for whole rows: selecting fields does not change it.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try planForWholeRows(request, selecting: positions)
  }
}
