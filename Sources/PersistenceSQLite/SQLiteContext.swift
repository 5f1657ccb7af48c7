import CSQLite
import Foundation
public import PersistenceDriver
import PersistenceSQL
import Synchronization
public import PersistenceDriverSupport

/// A context that keeps models in one SQLite file: an ordinary table for each, which any SQLite tool reads.
///
/// One connection writes, a pool of others reads, each seeing a state of the store that no writer disturbs. A
/// file that another program made opens too: its tables are models by what they declare.
///
/// ```swift
/// let context = try SQLiteContext(path: "movies.sqlite")
/// ```
public final class SQLiteContext: ObservableContext, SQLiteReader {
  /// The file's absolute path.
  public var location: String { store.location }

  /// Durable, for several processes, with predicates, orders and pages answered by SQLite.
  public let capabilities: Capabilities

  /// What watches over the context.
  public let monitor: ContextMonitor

  /// What the monitor knows.
  public var isKnownComplete: Bool { monitor.isKnownComplete }

  package var counters: SQLiteCounters { store.counters }

  let store: SQLiteStore
  let pool: SQLitePool
  private let pins: SQLiteSharedReadTransactions
  private let file: SQLiteFile

  /// The observers of the file's commits.
  public var observers: CommitObservers { file.observers }
  var gate: WriterGate { file.gate }
  private let writer: Mutex<Writer>

  /// The connection that writes, opened by the first write.
  private struct Writer {
    var connection: SQLiteConnection?
    var isClosed = false
  }

  /// Opens a store, making the file where it does not exist.
  ///
  /// - Parameters:
  ///   - path: The file, absolute or relative to the working directory.
  ///   - configuration: How it is opened.
  /// - Throws: ``PersistenceError``: `missingStore` where its folder does not exist, or the file where it is not
  ///   to be made; `notAStore` where it is another kind of file; `damaged`; `readOnly` where it cannot be
  ///   written to and was not opened for reading only; `accessDenied`; `storeFull`; `busy`; `unsupported` where
  ///   its text is encoded in UTF-16.
  public init(path: String, configuration: SQLiteConfiguration = SQLiteConfiguration()) throws {
    let opening = try SQLiteOpening(path: path, configuration: configuration)
    store = opening.store
    pool = SQLitePool(store)
    pins = SQLiteSharedReadTransactions(pool, sharedLimit: configuration.poolSize)
    file = SQLiteFiles.file(at: SQLiteOpening.realPath(store.path) ?? store.path, store)
    capabilities = .sqlite(
      isReadOnly: configuration.isReadOnly || configuration.surveysForeignTables, journal: opening.journal,
      largestValue: opening.largestValue)
    monitor = ContextMonitor(configuration.monitoring, location: store.location)
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

  /// Looks a record up by its key: one statement, prepared once.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try key.validate(for: schema)
    let connection = try pool.take()
    defer { pool.giveBack(connection) }
    if let found = try findAtOnce(key, in: schema, connection, body) { return found }
    return try connection.withReadTransaction {
      guard let model = try connection.model(for: schema) else { return false }
      return try connection.withStatement(model.find, of: model) { statement in
        try statement.bind(key)
        guard try statement.step() else { return false }
        try statement.withRow(model.columns, body)
        return true
      }
    }
  }

  /// Looks up without a transaction of its own; nil where the catalog may have changed.
  ///
  /// SQLite prepares a statement anew when the schema has changed since, and counts that: so the catalog is
  /// checked by the very read that needs it.
  private func findAtOnce(
    _ key: RecordKey, in schema: ModelSchema, _ connection: SQLiteConnection,
    _ body: (borrowing Row) throws -> Void
  ) throws -> Bool? {
    guard let statement = connection.cachedFind(for: schema) else { return nil }
    defer { statement.finish() }
    try statement.bind(key)
    let code = sqlite3_step(statement.handle)
    if statement.wasPreparedAnew { return nil }
    switch code {
    case SQLITE_ROW:
      try statement.withWholeRow(body)
      return true
    case SQLITE_DONE: return false
    // Said with the catalog's help, if it happens again.
    default: return nil
    }
  }

  /// The rows of a request, over a snapshot that lives as long as they do.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    try SQLiteResults(request, in: SQLiteSnapshot(try pins.pin()))
  }

  /// Some fields of such rows, which are all that is read.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try SQLiteResults(request, selecting: positions, in: SQLiteSnapshot(try pins.pin()))
  }

  /// Pins the newest state; snapshots of one state share connections.
  public func snapshot() throws -> any StorageSnapshot {
    SQLiteSnapshot(try pins.pin())
  }

  /// Runs a closure as one transaction, which has the store to itself for writing.
  public func transaction(_ body: (any StorageTransaction) throws -> Void) throws {
    try write { connection, deadline in
      try connection.beginWriting(until: deadline)
      let transaction = SQLiteTransaction(on: connection)
      let observed = observers.begin(transaction)
      do {
        try body(observed.transaction)
        if connection.catalog?.writesByItself == true { observed.mayHaveChangedMore() }
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

  /// Lends the writing connection, in order of arrival.
  func write<Result>(_ body: (SQLiteConnection, ContinuousClock.Instant) throws -> Result) throws -> Result {
    guard !capabilities.isReadOnly else { throw PersistenceError.readOnly(location) }
    let deadline = ContinuousClock.now + configuration.busyTimeout
    return try gate.withEntry(timeout: configuration.busyTimeout, location: location) {
      // Outside the lock, inside the gate: nobody else writes, and `close` waits at the gate.
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
  /// Results that are alive stay readable; the last of them to be released closes the file.
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
    pins.close()
    pool.close()
    withExtendedLifetime(connection) {}
  }
}
