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
  var error: PersistenceError {
    let code: PersistenceError.Code
    let advice: String
    switch number {
    case ENOSPC, EDQUOT, EFBIG:
      code = .storeFull
      advice = "nothing was changed; make room on the disk"
    case EROFS:
      code = .readOnly
      advice = "the file system may only be read; open the store with readonly=true"
    case EACCES, EPERM:
      code = .accessDenied
      advice = "let this user read and write the store's folder"
    case ENOENT:
      code = .missingStore
      advice = "it does not exist; check the path"
    case ENOTDIR, EISDIR, ELOOP:
      code = .notAStore
      advice = "a JSON directory is a folder; check the path"
    case EMFILE, ENFILE:
      code = .inputOutput
      advice = "too many files are open; raise the limit"
    case ENAMETOOLONG:
      code = .valueTooLarge
      advice = "the name is too long for the file system"
    default:
      code = .inputOutput
      advice = "check the medium"
    }
    return PersistenceError(
      code, "could not \(attempt) \(path): \(advice)", location: path,
      engineError: .init(engine: "POSIX", code: Int(number), message: String(cString: strerror(number))))
  }
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
