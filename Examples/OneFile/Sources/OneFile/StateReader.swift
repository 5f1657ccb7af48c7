import PersistenceDriver

/// The reading half, written once for the context, its snapshots and its transactions: they differ in which state
/// they read.
protocol StateReader: StorageReader {
  /// The store, for messages.
  var location: String { get }

  /// The state that is read.
  func state() throws -> StoreState
}

extension StateReader {
  /// The schemas of all models, in the order of their names' bytes.
  public func catalog() throws -> [ModelSchema] { try state().sortedTables.map(\.schema) }

  /// Looks a record up by its key: a binary search.
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

  /// How many rows a request has.
  public func count(_ request: FetchRequest) throws -> Int { try results(request).count() }

  /// The rows of a request over a copy of the state, which costs nothing to make.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults { try results(request) }

  /// Every record is looked at; any order but the key's is sorted in memory.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    _ = try state().table(request.schema, location: location)
    return QueryPlan(
      access: .scan, residual: request.predicateWithAnchor?.shape,
      ordering: request.isInKeyOrder ? .byAccess : .sorted)
  }

  private func results(_ request: FetchRequest) throws -> StateResults {
    try StateResults(request, in: try state().table(request.schema, location: location))
  }
}

/// A store as it was at one moment: a copy of its state.
final class OneFileSnapshot: StorageSnapshot, StateReader {
  let location: String
  private let pinned: StoreState

  init(_ state: StoreState, location: String) {
    pinned = state
    self.location = location
  }

  func state() throws -> StoreState { pinned }
}
