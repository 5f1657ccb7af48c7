package import PersistenceDriver

/// The reading half of contexts and snapshots, all but their fetches.
package protocol KeyValueReading: StorageReader {
  var store: KeyValueStore { get throws }

  /// Runs a closure with a reader, which one thread at a time uses.
  func withReader<Result>(_ body: (any ByteReader) throws -> Result) throws -> Result
}

extension KeyValueReading {
  /// The schemas of all models, sorted by name.
  public func catalog() throws -> [ModelSchema] { try withReader { try store.catalog($0) } }

  /// No objects: every key belongs to a model.
  public func unmappedObjects() throws -> [UnmappedObject] { [] }

  /// The schema of one model; cached after the first call.
  public func schema(named name: String) throws -> ModelSchema? {
    try withReader { try store.schema(StoredName(name), $0) }
  }

  /// Looks up a record by its key, in one search of the store.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try withReader { try store.find(key, in: schema, $0, body) }
  }

  /// The number of rows of a request: constant time for a whole model, otherwise a scan of an index or of records.
  public func count(_ request: FetchRequest) throws -> Int {
    try withReader { try store.count(request, $0) }
  }

  /// Aggregates rows: from the ends or entries of an index if one serves, otherwise from the requested fields of each
  /// row.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try withReader { try store.aggregate(request, $0) }
  }

  /// The plan of a request.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    try withReader { try store.plan(for: request, $0) }
  }

  /// The plan of a request for some fields.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try withReader { try store.plan(for: request, selecting: positions, $0) }
  }

  /// The cost of a change of schema: only new indexes, computed values and erased fields take time.
  public func cost(of change: SchemaChange) throws -> EvolutionCost {
    try withReader { try store.cost(of: change, $0) }
  }

  /// The indexes of a model that wait to be built.
  public func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] {
    try withReader { try store.unbuiltIndexes(of: schema, $0) }
  }
}
