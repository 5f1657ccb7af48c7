import CSQLite
import PersistenceDriver

extension SQLiteConnection {
  /// How many instructions of SQLite's virtual machine run between two checks: some microseconds.
  private static let instructionsPerCheck: Int32 = 1000

  /// Makes the statements of this connection stop when the calling thread is interrupted.
  ///
  /// Only connections that read call it: interrupting a write would roll its transaction back.
  func allowInterruption() {
    isInterruptible = true
    sqlite3_progress_handler(
      handle, Self.instructionsPerCheck, { _ in ReadInterruption.isRequested ? 1 : 0 }, nil)
  }

  /// Runs a closure that only reads, on any connection, so that it stops when the calling thread is interrupted.
  ///
  /// SQLite ends an interrupted `SELECT` alone, and keeps the transaction around it.
  @inline(__always)
  func interruptibly<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard !isInterruptible, ReadInterruption.isPossible else { return try body() }
    allowInterruption()
    defer {
      sqlite3_progress_handler(handle, 0, nil, nil)
      isInterruptible = false
    }
    return try body()
  }

  /// Runs a closure that an interruption of the calling thread does not stop.
  func uninterruptibly<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard isInterruptible else { return try body() }
    sqlite3_progress_handler(handle, 0, nil, nil)
    isInterruptible = false
    defer { allowInterruption() }
    return try body()
  }

  /// The error of the calling thread's interruption; nil if there is none.
  static var interruption: PersistenceError? {
    do {
      try ReadInterruption.check()
      return nil
    } catch {
      return error as? PersistenceError
    }
  }
}
