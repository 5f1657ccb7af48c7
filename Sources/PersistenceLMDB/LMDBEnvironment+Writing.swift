import CLMDB
import Foundation
import PersistenceDriver
import PersistenceKeyValue
import Synchronization
import PersistenceDriverSupport

extension LMDBEnvironment {
  /// After how many writes dead processes are looked for.
  private static var writesBetweenChecks: Int { 256 }

  /// Runs a closure as the one writer of all processes; what it has not committed when it ends is undone.
  ///
  /// - Parameters:
  ///   - configuration: How long to wait, and what a commit survives.
  ///   - body: The work; it is given the writer and what commits it.
  /// - Throws: ``PersistenceError``: `busy`, `readOnly`, `storeFull` and others; and what the closure throws.
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
        throw judged(error, writer.handle).at(location: files.directory)
      }
    }
  }

  /// The lock of all processes' writers, opened when this process first writes.
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
      try awaitWay(forWriting: true)
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
        let isWorthAnother = help(error, handle)
        state.withLock { $0.live -= 1 }
        attempts += 1
        guard isWorthAnother, attempts < Self.attemptLimit else { throw error.at(location: files.directory) }
      }
    }
  }

  /// Draws the conclusions from a failed write, and says what it was.
  private func judged(_ error: PersistenceError, _ handle: LMDBHandle) -> PersistenceError {
    guard error.engineError?.engine == "LMDB" else { return error }
    if error.isLMDB(MDB_MAP_FULL) {
      // The space that dead readers held can be used by the next transaction.
      handle.clearStaleReaders()
    } else if error.isLMDB(EIO), LMDBFiles.isDiskFull(files.directory) {
      // LMDB gives this code to writes that the disk took only a part of; nothing of them counts.
      var full = LMDBFailure(code: ENOSPC, action: "commit").error()
      full.engineError = error.engineError
      return full
    } else if error.code == .inputOutput {
      state.withLock { $0.isSuspect = true }
    }
    return error
  }
}
