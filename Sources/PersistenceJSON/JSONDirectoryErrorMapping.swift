import Foundation
import PersistenceDriver

/// A failed system call, before the engine maps it to its own error.
struct SystemFailure: Error {
  let attempt: String
  let path: String
  let number: Int32

  /// Captures `errno` of the call that just failed.
  init(_ attempt: String, _ path: String) {
    number = errno
    self.attempt = attempt
    self.path = path
  }

  /// Whether the disk is full, or the user's part of it.
  var isLackOfSpace: Bool { number == ENOSPC || number == EDQUOT }

  /// Whether the user lacks a permission.
  var isMissingPermission: Bool { number == EACCES || number == EPERM }

  /// Whether the system refuses to write here, until a person changes that.
  var isRefusedWrite: Bool { isLackOfSpace || isMissingPermission || number == EROFS }

  /// The package's error (contract E5).
  var error: PersistenceError { .system(number, while: attempt, at: path) }
}

/// Runs a closure, and maps its errors to ``PersistenceError``.
func mappingErrors<Result>(location: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let failure as SystemFailure {
    throw failure.error.at(location: location)
  } catch let error as PersistenceError {
    throw error.at(location: location)
  }
}
