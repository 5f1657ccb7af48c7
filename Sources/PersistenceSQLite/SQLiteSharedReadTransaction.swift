import Foundation
import PersistenceDriver
import Synchronization

/// A connection that holds one state of the store, shared by the snapshots of that state.
final class SQLiteSharedReadTransaction: @unchecked Sendable {  // the connection is used under the lock only
  private let pool: SQLitePool
  private let connection: SQLiteConnection
  private let lock = NSRecursiveLock()

  /// How many snapshots use it.
  let users = Atomic<Int>(0)

  /// Takes over a connection on which a read transaction is under way.
  init(_ connection: SQLiteConnection, of pool: SQLitePool) {
    self.connection = connection
    self.pool = pool
  }

  deinit { pool.giveBack(connection) }

  /// Lends the connection to one thread at a time; the same thread may ask again inside.
  func withConnection<Result>(_ body: (SQLiteConnection) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(connection)
  }
}

/// Pins the newest state for snapshots, by connections that as many of them share as can.
///
/// SQLite here cannot name a version. Another connection that never writes, the sentinel, can tell whether the
/// store has changed between two moments (`PRAGMA data_version`): where it has not, snapshots taken at both see
/// the same and can share a connection.
final class SQLiteSharedReadTransactions: Sendable {
  private let pool: SQLitePool
  private let sharedLimit: Int
  private let state = Mutex(State())

  private struct State {
    var sentinel: SQLiteConnection?
    var pins: [Weak] = []
    var isClosed = false
  }

  private struct Weak {
    weak var pin: SQLiteSharedReadTransaction?
    /// The version that it pins, as the sentinel counts; nil where nobody asked, and it is not shared.
    var version: Int64?
  }

  /// Makes the pins of a store.
  ///
  /// - Parameters:
  ///   - pool: Where connections come from.
  ///   - sharedLimit: How many connections pin one state; beyond that they are shared.
  init(_ pool: SQLitePool, sharedLimit: Int) {
    self.pool = pool
    self.sharedLimit = max(1, sharedLimit)
  }

  /// A pin of the state at some moment between the call and its return.
  func pin() throws -> SQLiteSharedReadTransaction {
    // Kept alive until after the lock: giving the last reference up releases a connection.
    var known: [SQLiteSharedReadTransaction] = []
    defer { withExtendedLifetime(known) {} }
    return try state.withLock { state in
      guard !state.isClosed else { throw PersistenceError.closed("the store") }
      state.pins.removeAll { $0.pin == nil }
      // The only pin needs no comparison: most stores never have two results at a time, and open no sentinel.
      let version = try state.pins.isEmpty ? nil : version(&state)
      if let version { state.pins.removeAll { $0.version != nil && $0.version != version } }
      known = state.pins.compactMap { $0.pin }
      let same = state.pins.filter { $0.version != nil }.compactMap { $0.pin }
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
      let pin = SQLiteSharedReadTransaction(connection, of: pool)
      // A commit between the question and the pin is noticed by the next question: then this one is not shared.
      state.pins.append(Weak(pin: pin, version: version))
      return pin
    }
  }

  /// The store's version, as the sentinel counts.
  private func version(_ state: inout State) throws -> Int64 {
    let sentinel = try state.sentinel ?? pool.open()
    state.sentinel = sentinel
    return try sentinel.number(.dataVersion)
  }

  /// Closes the sentinel; pins that are alive stay.
  func close() {
    let sentinel = state.withLock { state in
      state.isClosed = true
      defer { state.sentinel = nil }
      return state.sentinel
    }
    withExtendedLifetime(sentinel) {}
  }
}
