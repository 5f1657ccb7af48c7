import Foundation
import PersistenceDriver
import PersistenceDriverSupport

/// The lock that excludes writers of other processes, with a timeout.
///
/// LMDB's own mutex has no timeout. A writer first locks a turn file, waits for the current writer while it
/// holds the turn, and then releases the turn. A process that writes continuously thus admits another one
/// after each transaction. The writer lock is on the data file itself, so it works for every link to the
/// store.
final class LMDBWriterLock: Sendable {
  static let name = "turn.lock"

  private let turn: LMDBFileLock
  private let writer: LMDBFileLock

  init(directory: String) throws {
    turn = try LMDBFileLock(directory + "/" + Self.name, flags: O_RDWR | O_CREAT)
    writer = try LMDBFileLock(directory + "/" + LMDBFiles.dataName, flags: O_RDONLY)
  }

  /// Waits until this process is the writer; throws `busy` with the whole timeout after the deadline.
  func lock(until deadline: ContinuousClock.Instant, timeout: Duration) throws {
    try turn.lock(until: deadline, timeout: timeout)
    defer { turn.unlock() }
    try writer.lock(until: deadline, timeout: timeout)
  }

  func unlock() { writer.unlock() }
}

/// An exclusive lock on a whole file; the system releases it when the process dies.
final class LMDBFileLock: Sendable {
  private let file: Int32
  private let path: String

  init(_ path: String, flags: Int32) throws {
    self.path = path
    file = open(path, flags | O_CLOEXEC, 0o644)
    guard file >= 0 else {
      throw LMDBFailure(code: errno, action: "open the writer lock").error(location: path)
    }
  }

  deinit { close(file) }

  /// Whether the path still leads to the file.
  var isInPlace: Bool {
    guard let current = FileIdentity(path) else { return false }
    return FileIdentity(descriptor: file) == current
  }

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
