import CSQLite
import PersistenceDriver
import PersistenceDriverSupport

/// The connections of a context that only read.
///
/// Nobody waits for a connection: where all are in use another is opened, and closed when it comes back.
final class SQLitePool: Sendable {
  private let store: SQLiteStore
  /// The connections that nobody uses.
  private let places: StripedPool<SQLiteConnection>

  init(_ store: SQLiteStore) {
    self.store = store
    places = StripedPool(count: store.configuration.poolSize)
  }

  /// Takes a connection; it is given back by ``giveBack(_:)``.
  func take() throws -> SQLiteConnection {
    if let idle = places.take() { return idle }
    guard !places.isClosed else { throw PersistenceError.closed("the store at \(store.location)") }
    return try open()
  }

  /// Opens a connection that is not the pool's.
  func open() throws -> SQLiteConnection {
    let connection = try SQLiteConnection(store)
    try SQLiteOpening.prepareForReading(connection)
    return connection
  }

  /// Gives a connection back; it is closed where there are enough, or the store was closed.
  func giveBack(_ connection: SQLiteConnection) {
    connection.endReading()
    // One for which there is no place is closed, as its last reference ends.
    _ = places.give(connection)
  }

  /// Lends a connection.
  func withConnection<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    let connection = try take()
    defer { giveBack(connection) }
    return try body(connection)
  }

  /// Closes the idle connections, and the others when they come back.
  func close() { _ = places.close() }
}
