import PersistenceDriver
import PersistenceDriverSupport

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

  /// Calls a closure with a session that reads records, and no schemas for their own sake.
  func withReadingSession<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result
}

extension PostgresReader {
  func withReadingSession<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
    try withSession(body)
  }
}

/// A transaction that writes.
protocol PostgresWriter: StorageTransaction, PostgresReader {
  /// Whether a table or an index was dropped from the catalog, and waits to be removed.
  var hasDropped: Bool { get }

  /// Ends the transaction before it is committed; throws if a statement has failed, so that the server would roll back.
  func end() throws

  /// Ends the transaction before it is rolled back.
  func abandon()
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
    try withSession { try $0.schema(named: name) }
  }

  /// The tables, views and triggers of the schema that models do not represent.
  public func unmappedObjects() throws -> [UnmappedObject] {
    try withSession { try $0.unmappedObjects() }
  }

  /// How the server executes a request.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    try withReadingSession { session in
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
    try withSession { session in
      if session.store.isForeign { throw session.foreignTable(of: change.stored) }
      return try PostgresEvolution(change, in: session).cost
    }
  }

  /// The indexes of a model that wait to be built.
  public func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] {
    try withSession { try $0.model(for: schema)?.layout.unbuiltIndexes ?? [] }
  }
}
