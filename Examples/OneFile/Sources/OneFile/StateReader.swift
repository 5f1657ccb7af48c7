import PersistenceDriver
import PersistenceDriverSupport

/// The reading half, shared by the context, its snapshots and its transactions.
///
/// They differ only in the state that they read.
protocol StateReader: StorageReader {
  /// The store's path, for messages.
  var location: String { get }

  /// The state to read.
  func state() throws -> StoreState

  /// The results for the caller; those of a transaction end with it.
  func lasting(_ results: any StorageResults) -> any StorageResults
}

extension StateReader {
  func lasting(_ results: any StorageResults) -> any StorageResults { results }

  /// Returns the schemas of all models, in the order of their names' bytes.
  public func catalog() throws -> [ModelSchema] { try state().sortedTables.map(\.schema) }

  /// Returns the schema of one model.
  public func schema(named name: String) throws -> ModelSchema? { try schemaFromCatalog(named: name) }

  /// Returns nothing: only this context writes the file, so it contains nothing but models.
  public func unmappedObjects() throws -> [UnmappedObject] { [] }

  /// Finds a record by its key, with a binary search.
  public func find(
    _ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void
  ) throws -> Bool {
    try key.validate(for: schema)
    guard let table = try state().table(schema, location: location), let record = table.record(for: key)
    else {
      return false
    }
    try record.withRow(RowBuffer(count: schema.fields.count), table.targets(for: schema), body)
    return true
  }

  /// Counts the rows of a request.
  public func count(_ request: FetchRequest) throws -> Int { try results(request).count() }

  /// Fetches the rows of a request from a copy of the state, which costs nothing.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    lasting(try results(request))
  }

  /// Fetches selected fields of the rows of a request.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try fetchWholeRows(request, selecting: positions)
  }

  /// Computes aggregates over the rows of a request.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try aggregateByScanning(request)
  }

  /// Plans a request: a scan of all records, sorted in memory unless the request is in key order.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    _ = try state().table(request.schema, location: location)
    return QueryPlan(
      access: .scan, residual: request.predicateWithAnchor?.shape,
      ordering: request.isInKeyOrder ? .byAccess : .sorted)
  }

  /// Says that a change of schema rewrites the records.
  public func cost(of change: SchemaChange) throws -> EvolutionCost { try costOfCopying(change) }

  /// Returns nothing: this context has no indexes to build.
  public func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] { [] }

  /// Plans a request for selected fields.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try planForWholeRows(request, selecting: positions)
  }

  private func results(_ request: FetchRequest) throws -> StateResults {
    try StateResults(request, in: try state().table(request.schema, location: location))
  }
}

/// The store at one moment: a copy of its state.
final class OneFileSnapshot: StorageSnapshot, StateReader {
  let location: String
  private let pinned: StoreState

  init(_ state: StoreState, location: String) {
    pinned = state
    self.location = location
  }

  func state() throws -> StoreState { pinned }
}
