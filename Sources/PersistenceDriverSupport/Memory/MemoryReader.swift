import PersistencePrimitives
import PersistenceDriver

/// The common part of the memory context's three readers: each reads one state.
protocol MemoryReader: StorageReader {
  /// The location of the store, for messages.
  var location: String { get }

  /// The state to read.
  func readableState() throws -> MemoryState

  /// The results for the caller; those of a transaction end with it.
  func lasting(_ results: any StorageResults) -> any StorageResults
}

extension MemoryReader {
  func lasting(_ results: any StorageResults) -> any StorageResults { results }

  /// The schemas of all models, sorted by name.
  public func catalog() throws -> [ModelSchema] { try readableState().catalog }

  /// Looks a record up by its key, in logarithmic time.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try readableState().find(key, in: schema, location: location, body)
  }

  /// The number of rows of a request, by one scan.
  public func count(_ request: FetchRequest) throws -> Int {
    let state = try readableState()
    if request.predicate == nil, request.after == nil {
      let all = try state.table(request.schema, location: location)?.count ?? 0
      return min(max(0, all - request.offset), request.limit ?? Int.max)
    }
    return try state.results(request, location: location).count()
  }

  /// The rows of a request over a copy-on-write copy of the state.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    lasting(try readableState().results(request, location: location))
  }

  /// The model's schema.
  public func schema(named name: String) throws -> ModelSchema? {
    try readableState().tables[StoredName(name)]?.schema
  }

  /// An empty list: memory has only models.
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

  /// A scan, with a sort in memory for any order other than the key's.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    _ = try readableState().table(request.schema, location: location)
    return QueryPlan(
      access: .scan, residual: request.predicateWithAnchor?.shape,
      ordering: request.isInKeyOrder ? .byAccess : .sorted)
  }
}

/// A snapshot of a memory context: a copy of its state.
final class MemorySnapshot: StorageSnapshot, MemoryReader {
  let location: String
  private let state: MemoryState

  init(_ state: MemoryState, location: String) {
    self.state = state
    self.location = location
  }

  func readableState() throws -> MemoryState { state }
}
