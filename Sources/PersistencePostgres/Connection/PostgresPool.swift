import PersistenceDriver
import PersistenceDriverSupport

/// The idle connections of a context.
///
/// Nobody waits for a connection: if none is idle the pool opens another, and closes those that it has no place for.
final class PostgresPool: Sendable {
  private let store: PostgresStore
  private let idle: StripedPool<PostgresConnection>

  init(_ store: PostgresStore) {
    self.store = store
    idle = StripedPool(count: store.configuration.poolSize)
  }

  /// Takes a connection, which the caller returns by ``giveBack(_:)``.
  ///
  /// A read that meets a broken connection can take another one, so it does not ask the system about one that answered a
  /// moment ago.
  func take(toRead: Bool = false) throws -> PostgresConnection {
    while let connection = idle.take() {
      if (toRead && connection.isFresh && !connection.isBroken) || connection.isAlive() { return connection }
    }
    guard !idle.isClosed else { throw PersistenceError.closed("the store at \(store.location)") }
    return try PostgresConnection.open(store)
  }

  /// Returns a connection, outside any transaction; a broken one is closed.
  func giveBack(_ connection: PostgresConnection) {
    guard !connection.isBroken else { return }
    _ = idle.give(connection)
  }

  /// Closes the idle connections, which a restart of the server has broken too.
  func discardIdle() { _ = idle.drain() }

  /// Whether the context was closed.
  var isClosed: Bool { idle.isClosed }

  /// Closes the idle connections now, and the others on return.
  func close() { _ = idle.close() }
}
