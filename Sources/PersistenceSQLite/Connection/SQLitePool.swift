import CSQLite
import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

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
  func take() throws -> SQLiteConnection {
    if let connection = idle.take() { return connection }
    guard !idle.isClosed else { throw PersistenceError.closed("the store at \(store.location)") }
    return try open()
  }

  /// Opens a connection outside the pool.
  func open() throws -> SQLiteConnection {
    let connection = try SQLiteConnection(store)
    try SQLiteOpening.prepareForReading(connection)
    return connection
  }

  /// Returns a connection; the pool closes it if it has enough idle ones, or the store was closed.
  func giveBack(_ connection: SQLiteConnection) {
    connection.endReading()
    // If the pool does not keep it, releasing the last reference closes it.
    _ = idle.give(connection)
  }

  func withConnection<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    let connection = try take()
    defer { giveBack(connection) }
    return try body(connection)
  }

  /// Closes the idle connections now, and the others on return.
  func close() { _ = idle.close() }
}

/// A read transaction on one state of the store, shared by the snapshots of that state.
final class SQLiteSharedReadTransaction: @unchecked Sendable {  // the connection is used under the lock only
  private let pool: SQLitePool
  private let connection: SQLiteConnection
  private let lock = NSRecursiveLock()

  /// How many snapshots use the transaction.
  let users = Atomic<Int>(0)

  /// Takes over a connection with an open read transaction.
  init(_ connection: SQLiteConnection, of pool: SQLitePool) {
    self.connection = connection
    self.pool = pool
  }

  deinit { pool.giveBack(connection) }

  /// Calls a closure with the connection, on one thread at a time; the closure may call this method again.
  func withConnection<Result>(_ body: (SQLiteConnection) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(connection)
  }
}

/// Begins read transactions on the newest state, and shares them between snapshots of one state.
///
/// SQLite has no numbers for states. A connection that never writes, the sentinel, knows whether the store has changed
/// since it was last asked (`PRAGMA data_version`). If not, a new snapshot sees the same state as the previous one.
final class SQLiteSharedReadTransactions: Sendable {
  private let pool: SQLitePool
  private let sharedLimit: Int
  private let state = Mutex(State())

  private struct State {
    var sentinel: SQLiteConnection?
    var transactions: [Weak] = []
    var isClosed = false
  }

  private struct Weak {
    weak var transaction: SQLiteSharedReadTransaction?
    /// The sentinel's data version; nil if it was not asked, and the transaction is not shared.
    var version: Int64?
  }

  /// Makes the read transactions of a store, which opens `sharedLimit` of them before it shares them.
  init(_ pool: SQLitePool, sharedLimit: Int) {
    self.pool = pool
    self.sharedLimit = max(1, sharedLimit)
  }

  /// A transaction on the newest state at some moment between the call and its return.
  func begin() throws -> SQLiteSharedReadTransaction {
    // Kept alive beyond the lock: releasing the last reference closes or returns a connection.
    var known: [SQLiteSharedReadTransaction] = []
    defer { withExtendedLifetime(known) {} }
    return try state.withLock { state in
      guard !state.isClosed else { throw PersistenceError.closed("the store") }
      state.transactions.removeAll { $0.transaction == nil }
      // The only transaction needs no version: most stores never have two results at once, and open no sentinel.
      let version = try state.transactions.isEmpty ? nil : version(&state)
      if let version { state.transactions.removeAll { $0.version != nil && $0.version != version } }
      known = state.transactions.compactMap { $0.transaction }
      let same = state.transactions.filter { $0.version != nil }.compactMap { $0.transaction }
      if known.count >= sharedLimit,
        let least = same.min(by: { $0.users.load(ordering: .relaxed) < $1.users.load(ordering: .relaxed) })
      {
        return least
      }
      let connection = try pool.take()
      do {
        try connection.beginReading()
      } catch {
        pool.giveBack(connection)
        throw error
      }
      let transaction = SQLiteSharedReadTransaction(connection, of: pool)
      // If another writer committed since the version was read, the next call sees a new version and does not share.
      state.transactions.append(Weak(transaction: transaction, version: version))
      return transaction
    }
  }

  private func version(_ state: inout State) throws -> Int64 {
    let sentinel = try state.sentinel ?? pool.open()
    state.sentinel = sentinel
    return try sentinel.number(.dataVersion)
  }

  /// Closes the sentinel; open transactions stay open.
  func close() {
    let sentinel = state.withLock { state in
      state.isClosed = true
      defer { state.sentinel = nil }
      return state.sentinel
    }
    withExtendedLifetime(sentinel) {}
  }
}
