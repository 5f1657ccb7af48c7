import CLMDB
import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceKeyValue
import Synchronization

extension LMDBEnvironment {
  /// The number of writes between two checks for dead processes.
  private static var writesBetweenChecks: Int { 256 }

  /// Runs a closure as the only writer of all processes; rolls back what the closure has not committed.
  ///
  /// - Parameters:
  ///   - configuration: The timeout and the durability.
  ///   - body: The closure; takes the writer and a function that commits.
  /// - Throws: ``PersistenceError``: `busy`, `readOnly`, `storeFull` and others; and errors of the closure.
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
        try body(writer, writer.commit)
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
      let opened = try LMDBWriterLock(directory: files.directory)
      lock = opened
      return opened
    }
  }

  private func beginWrite(_ synchronization: LMDBConfiguration.Synchronization) throws -> LMDBTransaction {
    var attempts = 0
    while true {
      try awaitReopening(forWriting: true)
      let (handle, isCheckDue) = try state.withLock { state in
        let handle = try current(&state)
        state.live += 1
        state.writes += 1
        return (handle, state.writes % Self.writesBetweenChecks == 0)
      }
      if isCheckDue { handle.clearStaleReaders() }
      do {
        return try LMDBTransaction(handle, synchronization)
      } catch let error as PersistenceError {
        let canRetry = recover(from: error, handle)
        state.withLock { $0.live -= 1 }
        attempts += 1
        guard canRetry, attempts < Self.attemptLimit else { throw error.at(location: files.directory) }
      }
    }
  }

  /// Handles a failed write, and returns its actual error.
  private func diagnosed(_ error: PersistenceError, _ handle: LMDBHandle) -> PersistenceError {
    guard error.engineError?.engine == "LMDB" else { return error }
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
