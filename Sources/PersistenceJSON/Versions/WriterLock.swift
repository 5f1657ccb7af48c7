import Foundation
import PersistenceDriver

/// The lock that allows one writer in all processes; the kernel releases it when the process dies.
///
/// A second byte of its file lets the openings of a store take turns. A third one is locked as long as a context is open.
final class WriterLock: Sendable {
  static let name = "lock"
  private static let writer: UInt64 = 0
  private static let opening: UInt64 = 1
  private static let use: UInt64 = 2
  private let file: File

  init(_ file: File) { self.file = file }

  /// Runs a closure while holding the lock, waiting for other processes.
  ///
  /// - Throws: ``PersistenceError`` with code `busy` after the timeout, and the errors of the closure.
  func withLock<Result>(timeout: Duration, location: String, _ body: () throws -> Result) throws -> Result {
    try wait(for: .exclusive, byte: Self.writer, timeout, location)
    defer { _ = try? file.lock(.none, byte: Self.writer) }
    return try body()
  }

  /// Runs a closure while holding the lock, unless another writer holds it; returns whether it ran.
  func withLockAtOnce(_ body: () throws -> Void) throws -> Bool {
    guard try file.lock(.exclusive, byte: Self.writer) else { return false }
    defer { _ = try? file.lock(.none, byte: Self.writer) }
    try body()
    return true
  }

  /// Runs a closure while no other opening finishes an interrupted commit.
  ///
  /// - Throws: ``PersistenceError`` with code `busy` after the timeout, and the errors of the closure.
  func withOpening(
    mayRecover: Bool, timeout: Duration, location: String, _ body: () throws -> Void
  ) throws {
    try wait(for: mayRecover ? .exclusive : .shared, byte: Self.opening, timeout, location)
    defer { _ = try? file.lock(.none, byte: Self.opening) }
    try body()
  }

  /// The lock file, marked as used as long as it is open; nil if there is none and the flags do not create it.
  ///
  /// - Throws: ``PersistenceError`` with code `busy` if the file is being replaced until the time-out.
  static func used(in control: Folder, _ flags: Int32, timeout: Duration, location: String) throws -> File? {
    let deadline = ContinuousClock.now + timeout
    while true {
      guard let file = try control.open(name, flags) else { return nil }
      if try file.lock(.shared, byte: use), try file.isStill(file.identity(), in: control) { return file }
      guard ContinuousClock.now < deadline else { throw PersistenceError.busy(location, waited: timeout) }
      usleep(1_000)
    }
  }

  /// Runs a closure while no context is open, and no writer of an earlier release is at work; returns whether it ran.
  func whileUnused(_ body: () throws -> Void) throws -> Bool {
    guard try file.lock(.exclusive, byte: Self.use) else { return false }
    defer { _ = try? file.lock(.none, byte: Self.use) }
    return try withLockAtOnce(body)
  }

  private func wait(
    for kind: File.LockKind, byte: UInt64, _ timeout: Duration, _ location: String
  ) throws {
    let deadline = ContinuousClock.now + timeout
    var pause: UInt32 = 200
    while try !file.lock(kind, byte: byte) {
      guard ContinuousClock.now < deadline else { throw PersistenceError.busy(location, waited: timeout) }
      usleep(pause)
      pause = min(pause * 2, 10_000)
    }
  }
}
