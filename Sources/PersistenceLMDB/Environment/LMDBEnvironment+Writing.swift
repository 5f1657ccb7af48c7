import CLMDB
import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceKeyValue
import Synchronization

extension LMDBEnvironment {
  /// The number of writes between two checks for dead processes.
  private static var writesBetweenChecks: Int { 256 }

  /// Runs a closure with a writer and a function that commits, as the only writer of all processes.
  ///
  /// It rolls back what the closure has not committed.
  func write(
    _ configuration: LMDBConfiguration, body: (LMDBTransaction, () throws -> Void) throws -> Void
  ) throws {
    guard !settings.isReadOnly else { throw PersistenceError.readOnly(files.directory) }
    let timeout = configuration.busyTimeout
    let deadline = ContinuousClock.now + timeout
    try gate.withEntry(timeout: timeout, location: files.directory) {
      let writerLock = try writersLock()
      try writerLock.lock(until: deadline, timeout: timeout)
      defer { writerLock.unlock() }
      let writer = try beginWrite(configuration.synchronization)
      defer {
        writer.abort()
        state.withLock { $0.live -= 1 }
      }
      do {
        try body(writer) {
          try requireInPlace(writer.handle)
          try writer.commit()
        }
      } catch let error as PersistenceError {
        writer.abort()
        throw diagnosed(error, writer.handle).at(location: files.directory)
      }
    }
  }

  /// The lock of all processes' writers, opened at the first write.
  private func writersLock() throws -> LMDBWriterLock {
    try writerLock.withLock { lock in
      if let lock { return lock }
      // Whoever created or copied the store may have failed before its name was durable, as a commit must be.
      try LMDBFiles.synchronize(files.directory)
      let opened = try LMDBWriterLock(directory: files.directory)
      lock = opened
      return opened
    }
  }

  private func beginWrite(_ synchronization: LMDBConfiguration.Synchronization) throws -> LMDBTransaction {
    func countWrite(_ state: inout State) -> Bool {
      state.writes += 1
      return state.writes % Self.writesBetweenChecks == 0
    }
    return try begin(forWriting: true, countWrite) { handle, isCheckDue in
      if isCheckDue { handle.clearStaleReaders() }
      return try LMDBTransaction(handle, synchronization, in: self)
    }
  }

  /// Commits what nothing refers to yet, or no more, on the way of a longer write.
  func commitEarly(_ writer: LMDBTransaction) throws {
    try requireInPlace(writer.handle)
    try commits.committing(writer.commit)
  }

  /// Throws if another program has removed or replaced the data or the lock file (contract E8).
  ///
  /// With another lock file, other processes would not see this one's commits and readers, nor this one theirs.
  private func requireInPlace(_ handle: LMDBHandle) throws {
    try files.requireInPlace()
    guard files.lockIdentity == handle.lock else { throw PersistenceError.removedStore(files.directory) }
  }

  /// Whether LMDB refuses the environment, because it could not write a header: neither the new state, nor, as it tries
  /// then, the state before.
  private func hasGivenUp(_ handle: LMDBHandle) -> Bool {
    do {
      try LMDBReader(handle).close()
      return false
    } catch {
      return (error as? PersistenceError)?.isLMDB(MDB_PANIC) == true
    }
  }

  /// Handles a failed write, and returns its actual error.
  private func diagnosed(_ error: PersistenceError, _ handle: LMDBHandle) -> PersistenceError {
    guard error.engineError?.engine == "LMDB" else { return error }
    if hasGivenUp(handle) {
      state.withLock { $0.isSuspect = true }
      var unknown = error
      unknown.code = .outcomeUnknown
      unknown.message =
        "LMDB could not write the header of a commit, so the store may or may not hold the transaction; check the disk, "
        + "and repeat the transaction if it may run twice; otherwise release all results, and read what the store holds"
      return unknown
    }
    if error.isLMDB(MDB_MAP_FULL) {
      // The next transaction can use the space that dead readers held.
      handle.clearStaleReaders()
    } else if error.isLMDB(EIO), LMDBFiles.isDiskFull(files.directory) {
      // LMDB reports a partial write, as on a full disk, with this code; the transaction is rolled back.
      var full = LMDBFailure(code: ENOSPC, action: "commit").error()
      full.engineError = error.engineError
      return full
    } else if error.code == .inputOutput {
      state.withLock { $0.isSuspect = true }
    }
    return error
  }
}
