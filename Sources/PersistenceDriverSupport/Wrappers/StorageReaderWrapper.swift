import PersistenceDriver

/// A reader around another one, which changes some of what it does and hands everything else on.
///
/// It is what ``StorageContextWrapper``, ``StorageSnapshotWrapper`` and ``StorageTransactionWrapper`` have in
/// common. Every requirement of ``StorageReader`` is forwarded here to ``wrappedReader``, and none has a default of its
/// own: a requirement that is not forwarded does not compile. A wrapper that changes the rows it yields overrides
/// everything that reads rows: find, count, both fetches and aggregates.
public protocol StorageReaderWrapper: StorageReader {
  /// The reader that calls are handed on to.
  var wrappedReader: any StorageReader { get }

  /// Puts a wrapper around what a fetch yields; as it is, by default.
  ///
  /// - Parameters:
  ///   - results: What the wrapped reader yields.
  ///   - request: What it was asked for.
  /// - Returns: What the caller is given.
  func wrap(_ results: any StorageResults, of request: FetchRequest) -> any StorageResults
}

extension StorageReaderWrapper {
  /// Gives the results as they are.
  public func wrap(_ results: any StorageResults, of request: FetchRequest) -> any StorageResults { results }

  /// Asks the wrapped reader.
  public func catalog() throws -> [ModelSchema] { try wrappedReader.catalog() }

  /// Asks the wrapped reader.
  public func schema(named name: String) throws -> ModelSchema? { try wrappedReader.schema(named: name) }

  /// Asks the wrapped reader.
  public func unmappedObjects() throws -> [UnmappedObject] { try wrappedReader.unmappedObjects() }

  /// Asks the wrapped reader.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try wrappedReader.find(key, in: schema, body)
  }

  /// Asks the wrapped reader.
  public func count(_ request: FetchRequest) throws -> Int { try wrappedReader.count(request) }

  /// Asks the wrapped reader, and wraps what it yields.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    wrap(try wrappedReader.fetch(request), of: request)
  }

  /// Asks the wrapped reader, and wraps what it yields.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    wrap(try wrappedReader.fetch(request, selecting: positions), of: request)
  }

  /// Asks the wrapped reader.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try wrappedReader.aggregate(request)
  }

  /// Asks the wrapped reader.
  public func plan(for request: FetchRequest) throws -> QueryPlan { try wrappedReader.plan(for: request) }

  /// Asks the wrapped reader.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try wrappedReader.plan(for: request, selecting: positions)
  }
}
