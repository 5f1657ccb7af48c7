import Foundation
import PersistenceDriver

/// The lock that allows one writer in all processes; the kernel releases it when the process dies.
final class WriterLock: Sendable {
  static let name = "lock"
  private let file: File

  init(_ file: File) { self.file = file }

  /// Runs a closure while holding the lock, waiting for other processes.
  ///
  /// - Throws: ``PersistenceError`` with code `busy` after the timeout, and the errors of the closure.
  func withLock<Result>(timeout: Duration, location: String, _ body: () throws -> Result) throws -> Result {
    let deadline = ContinuousClock.now + timeout
    var pause: UInt32 = 200
    while try !file.lock(.exclusive, byte: 0) {
      guard ContinuousClock.now < deadline else { throw PersistenceError.busy(location, waited: timeout) }
      usleep(pause)
      pause = min(pause * 2, 10_000)
    }
    defer { _ = try? file.lock(.none, byte: 0) }
    return try body()
  }

  /// Runs a closure while holding the lock, unless another writer holds it; returns whether it ran.
  func withLockAtOnce(_ body: () throws -> Void) throws -> Bool {
    guard try file.lock(.exclusive, byte: 0) else { return false }
    defer { _ = try? file.lock(.none, byte: 0) }
    try body()
    return true
  }
}
