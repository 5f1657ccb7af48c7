import Foundation
import PersistenceDriver

/// The lock that keeps writers of other processes out, and does so no longer than a stated time.
///
/// LMDB's own mutex knows no time-out. Two files are each locked as a whole: whoever wants to write takes his
/// turn first, waits for the writer while he holds it, and then lets the turn go. So a process that writes
/// without pause lets another in after one transaction. The writer's lock is that of the data file itself, so
/// that it holds whatever link a process has come by.
final class LMDBWriterLock: Sendable {
  static let name = "turn.lock"

  private let turn: LMDBFileLock
  private let writer: LMDBFileLock

  init(directory: String) throws {
    turn = try LMDBFileLock(directory + "/" + Self.name, flags: O_RDWR | O_CREAT)
    writer = try LMDBFileLock(directory + "/" + LMDBFiles.dataName, flags: O_RDONLY)
  }

  /// Waits until this process is the one that writes.
  ///
  /// - Parameters:
  ///   - deadline: When to give up.
  ///   - timeout: The whole time, for the message.
  /// - Throws: ``PersistenceError`` with code `busy` after the deadline.
  func lock(until deadline: ContinuousClock.Instant, timeout: Duration) throws {
    try turn.lock(until: deadline, timeout: timeout)
    defer { turn.unlock() }
    try writer.lock(until: deadline, timeout: timeout)
  }

  func unlock() { writer.unlock() }
}

/// A file that is locked as a whole by whoever has it open; the system lets the lock go where a process dies.
final class LMDBFileLock: Sendable {
  private let file: Int32
  private let path: String

  init(_ path: String, flags: Int32) throws {
    self.path = path
    file = open(path, flags | O_CLOEXEC, 0o644)
    guard file >= 0 else {
      throw LMDBFailure(code: errno, action: "open the writers' lock").error(location: path)
    }
  }

  deinit { close(file) }

  func lock(until deadline: ContinuousClock.Instant, timeout: Duration) throws {
    var pause: UInt32 = 20
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      guard code == EWOULDBLOCK || code == EINTR else {
        throw LMDBFailure(code: code, action: "wait for the other writers").error(location: path)
      }
      guard ContinuousClock.now < deadline else { throw PersistenceError.busy(path, waited: timeout) }
      usleep(pause)
      pause = min(2_000, pause * 2)
    }
  }

  func unlock() { flock(file, LOCK_UN) }
}
