import PersistencePrimitives
import PersistenceDriver

/// What the memory context's three readers share: reading from a state that they can name.
protocol MemoryReader: StorageReader {
  /// The store, for messages.
  var location: String { get }

  /// The state that is read.
  func readableState() throws -> MemoryState
}

extension MemoryReader {
  /// The schemas of all models, sorted by name.
  public func catalog() throws -> [ModelSchema] { try readableState().catalog }

  /// Looks a record up by its key, in logarithmic time.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try readableState().find(key, in: schema, location: location, body)
  }

  /// How many rows a request has: one scan.
  public func count(_ request: FetchRequest) throws -> Int {
    let state = try readableState()
    if request.predicate == nil, request.after == nil {
      let all = try state.table(request.schema, location: location)?.count ?? 0
      return min(max(0, all - request.offset), request.limit ?? Int.max)
    }
    return try state.results(request, location: location).count()
  }

  /// The rows of a request over a copy of the state, which costs nothing to make.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    try readableState().results(request, location: location)
  }

  /// The model's schema.
  public func schema(named name: String) throws -> ModelSchema? {
    try readableState().tables[StoredName(name)]?.schema
  }

  /// None: everything in memory is a model.
  public func unmappedObjects() throws -> [UnmappedObject] { [] }

  /// The selected fields of the rows of a request.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try fetchWholeRows(request, selecting: positions)
  }

  /// Aggregates, by one scan.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try aggregateByScanning(request)
  }

  /// The plan for whole rows.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try planForWholeRows(request, selecting: positions)
  }

  /// A scan, sorted in memory where another order than the key's is asked for.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    _ = try readableState().table(request.schema, location: location)
    return QueryPlan(
      access: .scan, residual: request.predicateWithAnchor?.shape,
      ordering: request.isInKeyOrder ? .byAccess : .sorted)
  }
}

/// The memory context as it was at one moment: a copy of its state.
final class MemorySnapshot: StorageSnapshot, MemoryReader {
  let location: String
  private let state: MemoryState

  init(_ state: MemoryState, location: String) {
    self.state = state
    self.location = location
  }

  func readableState() throws -> MemoryState { state }
}
