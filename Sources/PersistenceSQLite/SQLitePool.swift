import CSQLite
import PersistenceDriver

/// The connections of a context that only read.
///
/// Nobody waits for a connection: where all are in use another is opened, and closed when it comes back.
final class SQLitePool: Sendable {
  private let store: SQLiteStore
  private let state = Lock(State())

  private struct State {
    /// The connections that nobody uses; the one used last is the next.
    var idle: [SQLiteConnection] = []
    var isClosed = false
  }

  init(_ store: SQLiteStore) { self.store = store }

  /// Takes a connection; it is given back by ``giveBack(_:)``.
  func take() throws -> SQLiteConnection {
    let idle = try state.withLock { state -> SQLiteConnection? in
      guard !state.isClosed else { throw PersistenceError.closed("the store at \(store.location)") }
      return state.idle.popLast()
    }
    return try idle ?? open()
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
    let isKept = state.withLock { state in
      guard !state.isClosed, state.idle.count < store.configuration.poolSize else { return false }
      state.idle.append(connection)
      return true
    }
    // Closed here, outside the lock.
    if !isKept { withExtendedLifetime(connection) {} }
  }

  /// Lends a connection.
  func withConnection<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    let connection = try take()
    defer { giveBack(connection) }
    return try body(connection)
  }

  /// Closes the idle connections, and the others when they come back.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle.removeAll() }
      return state.idle
    }
    withExtendedLifetime(idle) {}
  }
}
