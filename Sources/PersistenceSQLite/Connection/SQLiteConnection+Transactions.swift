import CSQLite
import CSQLiteFiles
import Foundation
import Logging
import PersistenceDriver
import PersistenceDriverSupport

extension SQLiteConnection {
  /// Runs a closure in a read transaction, with the catalog of its state.
  func withReadTransaction<Result>(_ body: () throws -> Result) throws -> Result {
    try beginReading()
    defer { endReading() }
    return try body()
  }

  /// Begins a read transaction on the newest state, and updates the catalog to it.
  func beginReading() throws {
    do {
      // It can be interrupted after it took effect.
      try run(.begin)
      // BEGIN does not start the read transaction yet: the first read does.
      try refreshCatalog()
    } catch {
      endReading()
      throw error
    }
  }

  /// Begins a read transaction, unless it would have to wait for a writer.
  ///
  /// - Throws: `SnapshotWouldWait`, and the errors of ``beginReading()``.
  func beginReadingAtOnce() throws {
    setBusyTimeout(.zero)
    defer { setBusyTimeout(store.configuration.busyTimeout) }
    do {
      try beginReading()
    } catch let error as PersistenceError where error.code == .busy {
      throw SnapshotWouldWait()
    }
  }

  /// Ends a transaction without its writes, on threads with an interruption too.
  func endReading() {
    guard !isOutsideTransaction else { return }
    // COMMIT would do as well after reads only, but ROLLBACK cannot fail with SQLITE_BUSY.
    runUnchecked(.rollback)
    // SQLite counts instructions over all executions of a statement, so a check can fall into this one and stop it.
    if !isOutsideTransaction { uninterruptibly { runUnchecked(.rollback) } }
  }

  /// Begins a write transaction, and waits for writers in other processes until the deadline.
  func beginWriting(until deadline: ContinuousClock.Instant) throws {
    try retryingWhileBusy(until: deadline) { try run(.beginImmediate) }
    do {
      try refreshCatalog()
    } catch {
      rollBack()
      throw error
    }
  }

  /// Commits the transaction, or rolls it back if that fails.
  ///
  /// - Throws: ``PersistenceError``, with code `outcomeUnknown` if recovery may find the transaction complete.
  func commit(until deadline: ContinuousClock.Instant) throws {
    do {
      try requireInPlace()
      try retryingWhileBusy(until: deadline) { try run(.commit) }
    } catch {
      rollBack()
      throw (error as? PersistenceError)?.ofCommit ?? error
    }
  }

  /// Throws if another program has removed or replaced the file, its log or the log's index: SQLite would go on using the
  /// old one (contract E8).
  ///
  /// SQLite itself checks this with a rollback journal only, not with a write-ahead log.
  func requireInPlace() throws {
    var haveMoved: Int32 = 0
    let code = sqlite3_file_control(handle, "main", PERSISTENCE_SQLITE_FILES_MOVED, &haveMoved)
    guard code != SQLITE_OK || haveMoved == 0 else { throw PersistenceError.removedStore(store.location) }
  }

  /// Throws if this connection has opened another file than the store's first one.
  func requireSameFile() throws {
    // In this order: a file that replaces this one between the two checks has moved it.
    try store.requireInPlace { SQLiteFileHeader(of: self)?.hasLog ?? true }
    var hasMoved: Int32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    guard code != SQLITE_OK || hasMoved == 0 else { throw PersistenceError.removedStore(store.location) }
  }

  /// Rolls back the open transaction, if any, and discards the catalog, which it may have changed.
  func rollBack() {
    endReading()
    discardCatalog()
  }

  func retryingWhileBusy(until deadline: ContinuousClock.Instant, _ body: () throws -> Void) throws {
    let start = ContinuousClock.now
    var pause = 0.000_2
    while true {
      do {
        return try body()
      } catch let error as PersistenceError where error.code == .busy {
        let left = deadline - ContinuousClock.now
        guard left > .zero else {
          var busy = PersistenceError.busy(store.location, waited: store.configuration.busyTimeout)
          busy.engineError = error.engineError
          store.configuration.monitoring.logger.debug(
            "stopped waiting for another writer", metadata: ["waited": "\(ContinuousClock.now - start)"])
          throw busy
        }
        // No other process can wake this one, so it polls with increasing pauses.
        Thread.sleep(forTimeInterval: min(pause, left.timeInterval))
        pause = min(pause * 1.5, 0.01)
      }
    }
  }
}

/// A statement without parameters that every connection prepares once.
enum SQLiteCommand: String, CaseIterable {
  case begin = "BEGIN"
  case beginImmediate = "BEGIN IMMEDIATE"
  case commit = "COMMIT"
  case rollback = "ROLLBACK"
  case savepoint = "SAVEPOINT persistence"
  case release = "RELEASE persistence"
  case rollbackToSavepoint = "ROLLBACK TO persistence"
  case schemaVersion = "PRAGMA schema_version"
  case dataVersion = "PRAGMA data_version"

  /// What the command does, for messages.
  var action: String {
    switch self {
    case .begin: "begin to read"
    case .beginImmediate: "begin a transaction"
    case .commit: "commit a transaction"
    case .rollback: "roll back a transaction"
    case .savepoint: "begin a nested transaction"
    case .release: "end a nested transaction"
    case .rollbackToSavepoint: "roll back a nested transaction"
    case .schemaVersion, .dataVersion: "read the store's version"
    }
  }

  var index: Int {
    switch self {
    case .begin: 0
    case .beginImmediate: 1
    case .commit: 2
    case .rollback: 3
    case .savepoint: 4
    case .release: 5
    case .rollbackToSavepoint: 6
    case .schemaVersion: 7
    case .dataVersion: 8
    }
  }
}
