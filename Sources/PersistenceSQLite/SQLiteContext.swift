import Foundation
public import PersistenceDriver
public import PersistenceDriverSupport
import PersistenceSQL
import Synchronization

/// A context that stores models in one SQLite file, with an ordinary table for each model.
///
/// One connection writes, and a pool of connections reads; each reader sees one state of the store. The context also
/// opens databases that other programs made, and derives models from their tables' definitions.
///
/// ```swift
/// let context = try SQLiteContext(path: "movies.sqlite")
/// ```
public final class SQLiteContext: ObservableContext, SQLiteReader, SinglePassContext {
  /// The file's absolute path.
  public var location: String { store.location }

  /// What the store supports: it is durable and multi-process, and SQLite evaluates predicates, orders and pages.
  public let capabilities: Capabilities

  /// The monitor of the context.
  public let monitor: ContextMonitor

  /// Whether the store is known to be complete, as the monitor remembers.
  public var isKnownComplete: Bool { monitor.isKnownComplete }

  package var counters: SQLiteCounters { store.counters }

  let store: SQLiteStore
  let pool: SQLitePool
  private let readTransactions: SQLiteSharedReadTransactions
  private let file: SQLiteFile

  /// The observers of the file's commits.
  public var observers: CommitObservers { file.observers }
  var gate: WriterGate { file.gate }
  private let writer: Mutex<Writer>

  /// The writing connection, which the first write opens.
  private struct Writer {
    var connection: SQLiteConnection?
    var isClosed = false
  }

  /// Opens a store, and creates the file if it does not exist.
  ///
  /// - Parameters:
  ///   - path: The file's path, absolute or relative to the working directory.
  ///   - configuration: How to open the store.
  /// - Throws: ``PersistenceError``: `missingStore` if the folder does not exist, or the file if the configuration does
  ///   not create it; `notAStore` if the file is not a SQLite database; `damaged`; `readOnly` if the file cannot be
  ///   written and the configuration is not read-only; `accessDenied`; `storeFull`; `busy`; `unsupported` if the file
  ///   stores text in UTF-16, or has several names (hard links).
  public init(path: String, configuration: SQLiteConfiguration = SQLiteConfiguration()) throws {
    let opening = try SQLiteOpening(path: path, configuration: configuration)
    store = opening.store
    pool = SQLitePool(store)
    readTransactions = SQLiteSharedReadTransactions(pool, sharedLimit: configuration.poolSize)
    file = SQLiteFiles.file(of: store)
    capabilities = .sqlite(
      isReadOnly: configuration.isReadOnly || configuration.surveysForeignTables, journal: opening.journal,
      largestValue: opening.largestValue, hasChecksums: opening.store.hasChecksums)
    monitor = opening.monitor
    writer = Mutex(Writer(connection: opening.writer))
    if let reader = opening.reader { pool.giveBack(reader) }
    monitor.opened(opening.details)
    if let recovered = opening.recovered { monitor.recovered(recovered) }
  }

  func withReader<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    try pool.withConnection { connection in
      try connection.withReadTransaction { try body(connection) }
    }
  }

  /// The schema of one model; for a model that the store does not hold, one read suffices, without a transaction.
  ///
  /// Each repository asks for the ledger of an unfinished migration, which most stores do not hold.
  func schema(of name: StoredName) throws -> ModelSchema? {
    try pool.withConnection { connection in
      if try connection.lacks(name) { return nil }
      return try connection.withReadTransaction { try connection.schema(of: name) }
    }
  }

  /// Finds a record by its key, with a statement that is prepared once.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try key.validate(for: schema)
    let connection = try pool.take()
    defer { pool.giveBack(connection) }
    if let found = try findWithoutTransaction(key, in: schema, connection, body) { return found }
    return try connection.withReadTransaction { try connection.find(key, in: schema, body) }
  }

  /// Finds a record without beginning a transaction; nil if the catalog may be stale, which ``SQLiteStatement/firstStep()``
  /// checks.
  private func findWithoutTransaction(
    _ key: RecordKey, in schema: ModelSchema, _ connection: SQLiteConnection,
    _ body: (borrowing Row) throws -> Void
  ) throws -> Bool? {
    guard let statement = connection.cachedFind(for: schema) else { return nil }
    defer { statement.finish() }
    try statement.bind(key)
    guard let isFound = try statement.firstStep() else { return nil }
    if isFound { try statement.withWholeRow(body) }
    return isFound
  }

  /// The rows of a request, from a snapshot that lives as long as the results.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    try SQLiteResults(request, in: readTransactions.snapshot())
  }

  /// Selected fields of a request's rows; it reads no others.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try SQLiteResults(request, selecting: positions, in: readTransactions.snapshot())
  }

  /// A snapshot of the newest state; snapshots of one state may share a connection.
  public func snapshot() throws -> any StorageSnapshot { try readTransactions.snapshot() }

  /// Runs a closure in a transaction, which excludes all other writers.
  public func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    try write { connection, deadline in
      try connection.beginWriting(until: deadline)
      if observers.isObserved { file.commits.begin() }
      let transaction = SQLiteTransaction(on: connection)
      let observed = observers.begin(transaction)
      do {
        try body(observed.transaction)
        if connection.hasTriggers { observed.mayHaveChangedMore() }
        try transaction.end()
      } catch {
        transaction.abandon()
        connection.rollBack()
        throw error
      }
      try observers.commit(observed) {
        try file.commits.committing(on: connection) { try connection.commit(until: deadline) }
      }
    }
    monitor.reportLongHeldResults()
  }

  /// Calls a closure with the writing connection; writers take turns in order of arrival.
  func write<Result>(_ body: (SQLiteConnection, ContinuousClock.Instant) throws -> Result) throws -> Result {
    guard !capabilities.isReadOnly else { throw PersistenceError.readOnly(location) }
    let deadline = ContinuousClock.now + configuration.busyTimeout
    return try gate.withEntry(timeout: configuration.busyTimeout, location: location) {
      // The gate excludes other writers and `close`, so the lock on `writer` is not held here.
      return try body(try writingConnection(), deadline)
    }
  }

  private func writingConnection() throws -> SQLiteConnection {
    try writer.withLock { writer in
      guard !writer.isClosed else { throw PersistenceError.closed("the store at \(location)") }
      if let connection = writer.connection { return connection }
      let connection = try SQLiteConnection(store)
      try SQLiteOpening.prepareForWriting(connection)
      writer.connection = connection
      return connection
    }
  }

  private var configuration: SQLiteConfiguration { store.configuration }

  /// Closes the store.
  ///
  /// Results that are still in use stay readable; releasing the last of them closes the file.
  public func close() throws {
    let timeout = configuration.busyTimeout
    let connection = try gate.withEntry(timeout: timeout, location: location) {
      writer.withLock { writer in
        writer.isClosed = true
        defer { writer.connection = nil }
        return writer.connection
      }
    }
    observers.end(of: self)
    readTransactions.close()
    pool.close()
    withExtendedLifetime(connection) {}
  }
}
