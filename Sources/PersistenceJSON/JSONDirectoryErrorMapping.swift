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
