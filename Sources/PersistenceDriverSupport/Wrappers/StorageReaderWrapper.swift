public import PersistenceDriver

/// A reader that wraps another one: it changes some calls and forwards the others.
///
/// It is the common part of ``StorageContextWrapper``, ``StorageSnapshotWrapper`` and ``StorageTransactionWrapper``. It
/// forwards every requirement of ``StorageReader`` to ``wrappedReader``. The requirements have no other defaults, so a
/// requirement that is not forwarded does not compile. A wrapper that changes rows overrides every method that reads
/// rows: find, count, both fetches and aggregates.
public protocol StorageReaderWrapper: StorageReader {
  /// The wrapped reader.
  var wrappedReader: any StorageReader { get }

  /// Wraps the results of a fetch; returns them unchanged by default.
  ///
  /// - Parameters:
  ///   - results: The results of the wrapped reader.
  ///   - request: The request.
  /// - Returns: The results for the caller.
  func wrap(_ results: any StorageResults, of request: FetchRequest) -> any StorageResults
}

extension StorageReaderWrapper {
  /// Returns the results unchanged.
  public func wrap(_ results: any StorageResults, of request: FetchRequest) -> any StorageResults { results }

  /// Forwards to the wrapped reader.
  public func catalog() throws -> [ModelSchema] { try wrappedReader.catalog() }

  /// Forwards to the wrapped reader.
  public func schema(named name: String) throws -> ModelSchema? { try wrappedReader.schema(named: name) }

  /// Forwards to the wrapped reader.
  public func unmappedObjects() throws -> [UnmappedObject] { try wrappedReader.unmappedObjects() }

  /// Forwards to the wrapped reader.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try wrappedReader.find(key, in: schema, body)
  }

  /// Forwards to the wrapped reader.
  public func count(_ request: FetchRequest) throws -> Int { try wrappedReader.count(request) }

  /// Forwards to the wrapped reader, and wraps its results.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    wrap(try wrappedReader.fetch(request), of: request)
  }

  /// Forwards to the wrapped reader, and wraps its results.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    wrap(try wrappedReader.fetch(request, selecting: positions), of: request)
  }

  /// Forwards to the wrapped reader.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try wrappedReader.aggregate(request)
  }

  /// Forwards to the wrapped reader.
  public func plan(for request: FetchRequest) throws -> QueryPlan { try wrappedReader.plan(for: request) }

  /// Forwards to the wrapped reader.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try wrappedReader.plan(for: request, selecting: positions)
  }

  /// Forwards to the wrapped reader.
  public func cost(of change: SchemaChange) throws -> EvolutionCost { try wrappedReader.cost(of: change) }

  /// Forwards to the wrapped reader.
  public func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] {
    try wrappedReader.unbuiltIndexes(of: schema)
  }
}

/// A snapshot that wraps another one: it changes some calls and forwards the others.
///
/// It keeps the wrapped snapshot, and so the state of the store, alive.
public protocol StorageSnapshotWrapper: StorageSnapshot, StorageReaderWrapper {
  /// The wrapped snapshot.
  var wrapped: any StorageSnapshot { get }
}

extension StorageSnapshotWrapper {
  /// The wrapped snapshot.
  public var wrappedReader: any StorageReader { wrapped }
}

/// Results that wrap other results: they change some calls and forward the others.
///
/// They keep the wrapped results, and so their snapshot, alive.
public protocol StorageResultsWrapper: CheckedResults {
  /// The wrapped results.
  var wrapped: any StorageResults { get }
}

extension StorageResultsWrapper {
  /// Checks the wrapped results, if they can be.
  public func checkUnread() throws { try (wrapped as? any CheckedResults)?.checkUnread() }

  /// Forwards to the wrapped results.
  public func count() throws -> Int { try wrapped.count() }

  /// Forwards to the wrapped results.
  public var usesRandomAccess: Bool { wrapped.usesRandomAccess }

  /// Forwards to the wrapped results.
  public func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    try wrapped.read(from: offset, limit: limit, body)
  }
}

/// A reader wrapper that changes rows.
///
/// It overrides ``StorageReader/find(_:in:_:)``, ``StorageReader/count(_:)`` and ``StorageReader/fetch(_:)``.
/// This protocol derives selections and aggregates from that fetch, so that they see the changed rows.
public protocol RowChangingWrapper: StorageReaderWrapper {}

extension RowChangingWrapper {
  /// Cuts the rows of the wrapper's own fetch.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try fetchWholeRows(request, selecting: positions)
  }

  /// Aggregates the rows of the wrapper's own fetch.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try aggregateByScanning(request)
  }

  /// The plan for whole rows.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try planForWholeRows(request, selecting: positions)
  }
}
