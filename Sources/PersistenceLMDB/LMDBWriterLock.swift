import Foundation
import PersistenceDriver

/// The lock that keeps writers of other processes out, and does so no longer than a stated time.
///
/// LMDB's own mutex knows no time-out. There are two files, each locked as a whole by the open file: whoever
/// wants to write takes his turn first, waits for the writer while he holds it, and then lets the turn go. So a
/// process that writes without pause lets another in after one transaction. The system releases both where a
/// process dies.
final class LMDBWriterLock: Sendable {
  static let names = ["turn.lock", "writer.lock"]

  private let turn: Int32
  private let writer: Int32
  private let location: String

  init(directory: String) throws {
    location = directory
    turn = try Self.open(directory + "/" + Self.names[0])
    do {
      writer = try Self.open(directory + "/" + Self.names[1])
    } catch {
      close(turn)
      throw error
    }
  }

  deinit {
    close(turn)
    close(writer)
  }

  private static func open(_ path: String) throws -> Int32 {
    let file = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard file >= 0 else {
      throw LMDBFailure(code: errno, action: "open the writers' lock").error(location: path)
    }
    return file
  }

  /// Waits until this process is the one that writes.
  ///
  /// - Parameters:
  ///   - deadline: When to give up.
  ///   - timeout: The whole time, for the message.
  /// - Throws: ``PersistenceError`` with code `busy` after the deadline.
  func lock(until deadline: ContinuousClock.Instant, timeout: Duration) throws {
    try wait(for: turn, until: deadline, timeout)
    defer { flock(turn, LOCK_UN) }
    try wait(for: writer, until: deadline, timeout)
  }

  func unlock() { flock(writer, LOCK_UN) }

  private func wait(for file: Int32, until deadline: ContinuousClock.Instant, _ timeout: Duration) throws {
    var pause: UInt32 = 20
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      guard code == EWOULDBLOCK || code == EINTR else {
        throw LMDBFailure(code: code, action: "wait for the other writers").error(location: location)
      }
      guard ContinuousClock.now < deadline else { throw PersistenceError.busy(location, waited: timeout) }
      usleep(pause)
      pause = min(2_000, pause * 2)
    }
  }
}
