import PersistenceDriver
import PersistenceDriverSupport

/// The connection pool of a context's readers.
///
/// Readers never wait for a connection: if all are in use the pool opens another, which it closes on return.
final class SQLitePool: Sendable {
  private let store: SQLiteStore
  private let idle: StripedPool<SQLiteConnection>

  init(_ store: SQLiteStore) {
    self.store = store
    idle = StripedPool(count: store.configuration.poolSize)
  }

  /// Takes a connection, which the caller returns by ``giveBack(_:)``.
  func take() throws -> SQLiteConnection { try idle.take() ?? openUnlessClosed() }

  private func openUnlessClosed() throws -> SQLiteConnection {
    guard !idle.isClosed else { throw PersistenceError.closed("the store at \(store.location)") }
    return try open()
  }

  /// Opens a connection outside the pool.
  func open() throws -> SQLiteConnection {
    let connection = try SQLiteConnection(store)
    try SQLiteOpening.prepareForReading(connection)
    return connection
  }

  /// Opens a connection outside the pool that only tells whether the store has changed.
  func openSentinel() throws -> SQLiteConnection { try SQLiteOpening.sentinel(of: store) }

  /// Returns a connection; the pool closes it if it has enough idle ones, or the store was closed.
  func giveBack(_ connection: SQLiteConnection) {
    connection.endReading()
    // If the pool does not keep it, releasing the last reference closes it: after a failed rollback, it would show its
    // old state to the next reader.
    if connection.isOutsideTransaction { _ = idle.give(connection) }
  }

  func withConnection<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    let connection = try take()
    defer { giveBack(connection) }
    return try body(connection)
  }

  /// Calls a closure with a connection that is closed afterwards, and with it what the closure changes of its settings.
  func withConnectionOfItsOwn<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    try body(openUnlessClosed())
  }

  /// Closes the idle connections now, and the others on return.
  func close() { _ = idle.close() }
}
