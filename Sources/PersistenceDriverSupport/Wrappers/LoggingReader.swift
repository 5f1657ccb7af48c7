import PersistenceDriver

/// What the logging context, its snapshots and its transactions have in common: each read is logged.
protocol LoggingReader: StorageReaderWrapper {
  var log: CallLog { get }
}

extension LoggingReader {
  /// Wraps the results, so that reading them is logged.
  public func wrap(_ results: any StorageResults, of request: FetchRequest) -> any StorageResults {
    log.isOn ? LoggingResults(wrapped: results, log: log, request: request) : results
  }

  /// Asks the wrapped reader, and logs that.
  public func catalog() throws -> [ModelSchema] {
    try log.call("catalog", outcome: { "\($0.count) models" }) { try wrappedReader.catalog() }
  }

  /// Asks the wrapped reader, and logs that.
  public func schema(named name: String) throws -> ModelSchema? { try log.schema(named: name, wrappedReader) }

  /// Asks the wrapped reader, and logs that.
  public func unmappedObjects() throws -> [UnmappedObject] { try log.unmappedObjects(wrappedReader) }

  /// Asks the wrapped reader, and logs that.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try log.find(key, in: schema, wrappedReader, body)
  }

  /// Asks the wrapped reader, and logs that.
  public func count(_ request: FetchRequest) throws -> Int { try log.count(request, wrappedReader) }

  /// Asks the wrapped reader, and logs that.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try log.aggregate(request, wrappedReader)
  }

  /// Asks the wrapped reader, and logs that and the reading of what it yields.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    wrap(try log.fetch(request, wrappedReader), of: request)
  }

  /// Asks the wrapped reader, and logs that and the reading of what it yields.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    wrap(try log.fetch(request, selecting: positions, wrappedReader), of: request)
  }

  /// Asks the wrapped reader, and logs that.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    try log.plan(for: request, selecting: nil, wrappedReader)
  }

  /// Asks the wrapped reader, and logs that.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try log.plan(for: request, selecting: positions, wrappedReader)
  }
}
