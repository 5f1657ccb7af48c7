public import Logging
import PersistenceDriver

/// A wrapper of any context that logs each call, for debugging.
///
/// ```swift
/// var logger = Logger(label: "store")
/// logger.logLevel = .debug
/// let repository = Repository(LoggingContext(context, logger: logger))
/// ```
///
/// Each call is one line at debug level: the request without its values, the duration, and the number of rows or the
/// error code. Values, keys and error messages, which may contain values, are logged at trace level only. Rows are read
/// after the fetch, and each page has its own line. A call in a transaction is logged immediately, whether the
/// transaction commits or not. Above debug level, nothing is measured or formatted.
public final class LoggingContext: StorageContextWrapper, LoggingReader {
  /// The wrapped context.
  public let wrapped: any StorageContext

  let log: CallLog

  /// Wraps a context.
  ///
  /// - Parameters:
  ///   - wrapped: The context to wrap.
  ///   - logger: The logger; nil for the wrapped context's logger.
  public init(_ wrapped: any StorageContext, logger: Logger? = nil) {
    self.wrapped = wrapped
    var logger = logger ?? wrapped.monitor.logger
    logger[metadataKey: "store"] = .string(wrapped.location)
    log = CallLog(logger)
  }

  /// Wraps the snapshot to log its calls.
  public func wrap(_ snapshot: any StorageSnapshot) -> any StorageSnapshot {
    log.isOn ? LoggingSnapshot(wrapped: snapshot, log: log) : snapshot
  }

  /// Wraps the transaction to log its calls.
  public func wrap(_ transaction: any StorageTransaction) -> any StorageTransaction {
    log.isOn ? LoggingTransaction(wrapped: transaction, log: log) : transaction
  }

  /// Forwards to the wrapped context, and logs the call.
  public func snapshot() throws -> any StorageSnapshot {
    wrap(try log.call("snapshot", outcome: { _ in "pinned" }) { try wrapped.snapshot() })
  }

  /// Runs a transaction of the wrapped context, and logs its calls and its outcome.
  public func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    try log.call("transaction", outcome: { _ in "committed" }) {
      try wrapped.transaction(mode) { try body(wrap($0)) }
    }
  }

  /// Closes the wrapped context, and logs the call.
  public func close() throws {
    try log.call("close", outcome: { _ in "closed" }) { try wrapped.close() }
  }
}

private final class LoggingSnapshot: StorageSnapshotWrapper, LoggingReader {
  let wrapped: any StorageSnapshot
  let log: CallLog

  init(wrapped: any StorageSnapshot, log: CallLog) { (self.wrapped, self.log) = (wrapped, log) }
}

private final class LoggingTransaction: StorageTransactionWrapper, LoggingReader {
  let wrapped: any StorageTransaction
  let log: CallLog

  init(wrapped: any StorageTransaction, log: CallLog) { (self.wrapped, self.log) = (wrapped, log) }

  func define(_ schema: ModelSchema) throws {
    try log.call("define \(schema.name)", outcome: { _ in "defined" }) { try wrapped.define(schema) }
  }
  func defineDeferringIndexes(_ schema: ModelSchema) throws {
    try log.call("define \(schema.name), its indexes later", outcome: { _ in "defined" }) {
      try wrapped.defineDeferringIndexes(schema)
    }
  }
  func buildIndexes(of schema: ModelSchema) throws -> Bool {
    try log.call("build the indexes of \(schema.name)", outcome: { $0 ? "built" : "a part" }) {
      try wrapped.buildIndexes(of: schema)
    }
  }
  func evolve(_ change: SchemaChange) throws {
    try log.call("evolve \(change.stored.name) to \(change.target)", outcome: { _ in "evolved" }) {
      try wrapped.evolve(change)
    }
  }
  func drop(_ schema: ModelSchema) throws {
    try log.call("drop \(schema.name)", outcome: { _ in "dropped" }) { try wrapped.drop(schema) }
  }
  func insert(_ row: borrowing Row, in schema: ModelSchema) throws {
    let wrapped = wrapped
    try log.write("insert", row, in: schema) { try wrapped.insert($0, in: schema) }
  }
  func update(_ row: borrowing Row, in schema: ModelSchema) throws {
    let wrapped = wrapped
    try log.write("update", row, in: schema) { try wrapped.update($0, in: schema) }
  }
  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    let wrapped = wrapped
    try log.write("save", row, in: schema) { try wrapped.save($0, in: schema) }
  }
  func delete(_ key: RecordKey, in schema: ModelSchema) throws -> Bool {
    try log.call("delete from \(schema.name) by key", values: "\(key)", outcome: { $0 ? "1 row" : "0 rows" })
    {
      try wrapped.delete(key, in: schema)
    }
  }
  func delete(_ request: FetchRequest) throws -> Int {
    try log.call("delete \(request.shape)", values: request.description, outcome: { "\($0) rows" }) {
      try wrapped.delete(request)
    }
  }
  func update(_ request: UpdateRequest) throws -> Int {
    try log.call("update \(request.rows.shape)", values: request.rows.description, outcome: { "\($0) rows" })
    {
      try wrapped.update(request)
    }
  }
  func deleteAll(in schema: ModelSchema) throws -> Int {
    try log.call("delete all of \(schema.name)", outcome: { "\($0) rows" }) {
      try wrapped.deleteAll(in: schema)
    }
  }
  func nested(_ body: () throws -> Void) throws {
    try log.call("nested transaction", outcome: { _ in "kept" }) { try wrapped.nested(body) }
  }
}

final class LoggingResults: StorageResultsWrapper {
  let wrapped: any StorageResults
  private let log: CallLog
  private let request: FetchRequest

  init(wrapped: any StorageResults, log: CallLog, request: FetchRequest) {
    self.wrapped = wrapped
    self.log = log
    self.request = request
  }

  func count() throws -> Int {
    try log.call("count results of \(request.shape)", outcome: { "\($0) rows" }) { try wrapped.count() }
  }
  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    try log.call("read from \(offset) of \(request.shape)", outcome: { "\($0) rows" }) {
      try wrapped.read(from: offset, limit: limit, body)
    }
  }
}

/// The common part of the logging context, its snapshots and its transactions: it logs each read.
protocol LoggingReader: StorageReaderWrapper {
  var log: CallLog { get }
}

extension LoggingReader {
  /// Wraps the results to log reads.
  public func wrap(_ results: any StorageResults, of request: FetchRequest) -> any StorageResults {
    log.isOn ? LoggingResults(wrapped: results, log: log, request: request) : results
  }

  /// Forwards to the wrapped reader, and logs the call.
  public func catalog() throws -> [ModelSchema] {
    try log.call("catalog", outcome: { "\($0.count) models" }) { try wrappedReader.catalog() }
  }

  /// Forwards to the wrapped reader, and logs the call.
  public func schema(named name: String) throws -> ModelSchema? {
    try log.call("schema of \(name)", outcome: { $0 == nil ? "absent" : "present" }) {
      try wrappedReader.schema(named: name)
    }
  }

  /// Forwards to the wrapped reader, and logs the call.
  public func unmappedObjects() throws -> [UnmappedObject] {
    try log.call("unmapped objects", outcome: { "\($0.count) objects" }) {
      try wrappedReader.unmappedObjects()
    }
  }

  /// Forwards to the wrapped reader, and logs the call.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try log.call("find \(schema.name) by key", values: "\(key)", outcome: { $0 ? "1 row" : "0 rows" }) {
      try wrappedReader.find(key, in: schema, body)
    }
  }

  /// Forwards to the wrapped reader, and logs the call.
  public func count(_ request: FetchRequest) throws -> Int {
    try log.call("count \(request.shape)", values: request.description, outcome: { "\($0) rows" }) {
      try wrappedReader.count(request)
    }
  }

  /// Forwards to the wrapped reader, and logs the call.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try log.call(request.shape, values: request.description, outcome: { "\($0.count) groups" }) {
      try wrappedReader.aggregate(request)
    }
  }

  /// Forwards to the wrapped reader, and logs the call and the reads of its results.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    let results = try log.call(
      "fetch \(request.shape)", values: request.description, outcome: { _ in "ready" }
    ) { try wrappedReader.fetch(request) }
    return wrap(results, of: request)
  }

  /// Forwards to the wrapped reader, and logs the call and the reads of its results.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    let fields = request.schema.fields
    let names = positions.map { fields.indices.contains($0) ? fields[$0].name : "?" }
    let results = try log.call(
      "fetch \(names.joined(separator: ", ")) of \(request.shape)", values: request.description,
      outcome: { _ in "ready" }
    ) { try wrappedReader.fetch(request, selecting: positions) }
    return wrap(results, of: request)
  }

  /// Forwards to the wrapped reader, and logs the call.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    try log.call("plan \(request.shape)", outcome: \.description) { try wrappedReader.plan(for: request) }
  }

  /// Forwards to the wrapped reader, and logs the call.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try log.call("plan \(request.shape)", outcome: \.description) {
      try wrappedReader.plan(for: request, selecting: positions)
    }
  }
}
