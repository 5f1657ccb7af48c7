import CSQLite
import Foundation
import Logging
import PersistenceDriver
import PersistenceDriverSupport

extension SQLiteConnection {
  /// Runs a closure in a read transaction, with the catalog as it is in it.
  func withReadTransaction<Result>(_ body: () throws -> Result) throws -> Result {
    try beginReading()
    defer { endReading() }
    return try body()
  }

  /// Pins the newest state, and brings the catalog up to it.
  func beginReading() throws {
    try run(.begin)
    do {
      // BEGIN alone pins nothing: the first read does.
      try refreshCatalog()
    } catch {
      endReading()
      throw error
    }
  }

  /// Releases what was pinned.
  func endReading() {
    guard !isOutsideTransaction else { return }
    // A transaction that has only read ends by either; ROLLBACK cannot be refused.
    runUnchecked(.rollback)
  }

  /// Begins a transaction that writes, waiting for writers of other processes.
  ///
  /// - Parameter deadline: When to give up.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/busy``.
  func beginWriting(until deadline: ContinuousClock.Instant) throws {
    try retryingWhileBusy(until: deadline) { try run(.beginImmediate) }
    do {
      try refreshCatalog()
    } catch {
      rollBack()
      throw error
    }
  }

  /// Commits; where that fails the transaction is rolled back.
  func commit(until deadline: ContinuousClock.Instant) throws {
    do {
      try retryingWhileBusy(until: deadline) { try run(.commit) }
    } catch {
      rollBack()
      throw error
    }
  }

  /// Rolls back whatever is under way.
  ///
  /// The catalog is read anew, since the transaction may have changed it.
  func rollBack() {
    if !isOutsideTransaction { runUnchecked(.rollback) }
    forgetCatalog()
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
            "gave up waiting for a writer", metadata: ["waited": "\(ContinuousClock.now - start)"])
          throw busy
        }
        // Between processes there is nobody to wake a waiter: it asks again, ever less often.
        Thread.sleep(forTimeInterval: min(pause, left.timeInterval))
        pause = min(pause * 1.5, 0.01)
      }
    }
  }
}
