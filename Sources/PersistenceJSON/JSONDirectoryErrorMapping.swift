import Foundation
import PersistenceDriver

/// What the operating system refused, before it is known what that means for the store.
struct SystemFailure: Error {
  let attempt: String
  let path: String
  let number: Int32

  /// Takes the number of the call that just failed.
  init(_ attempt: String, _ path: String) {
    number = errno
    self.attempt = attempt
    self.path = path
  }

  /// The package's error for it (contract E5).
  var error: PersistenceError { .system(number, while: attempt, at: path) }
}

/// Runs a closure so that only the package's error leaves it.
func mappingErrors<Result>(location: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let failure as SystemFailure {
    throw failure.error.at(location: location)
  } catch let error as PersistenceError {
    throw error.at(location: location)
  }
}
