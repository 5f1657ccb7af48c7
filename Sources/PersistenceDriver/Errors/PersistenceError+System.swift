import Foundation

extension PersistenceError {
  /// What the operating system refused, as the contract names it (E5): a full disk is ``Code/storeFull``, a
  /// missing file or folder ``Code/missingStore``, a missing permission ``Code/accessDenied``, and so on.
  ///
  /// A context whose store is a file gets its errors alike to those of other contexts by this.
  ///
  /// - Parameters:
  ///   - number: The system's number for the failure: `errno`, taken right after the call that failed.
  ///   - attempt: What was tried, as `write the file`.
  ///   - path: The file or folder.
  /// - Returns: The error, with the system's number and words beneath.
  public static func system(_ number: Int32, while attempt: String, at path: String) -> PersistenceError {
    let (code, advice) = meaning(of: number)
    return PersistenceError(
      code, "could not \(attempt) \(path): \(advice)", location: path,
      engineError: EngineError(engine: "POSIX", code: Int(number), message: String(cString: strerror(number)))
    )
  }

  private static func meaning(of number: Int32) -> (Code, String) {
    switch number {
    case ENOSPC, EDQUOT, EFBIG: (.storeFull, "nothing was changed; make room on the disk")
    case EROFS: (.readOnly, "the file system may only be read; open the store for reading only")
    case EACCES, EPERM: (.accessDenied, "let this user read and write the store and its folder")
    case ENOENT: (.missingStore, "it does not exist; check the path")
    case ENOTDIR, EISDIR, ELOOP:
      (.notAStore, "a file stands for a folder or a folder for a file; check the path")
    case EMFILE, ENFILE: (.inputOutput, "too many files are open; raise the limit")
    case ENAMETOOLONG: (.valueTooLarge, "the name is too long for the file system")
    default: (.inputOutput, "check the medium")
    }
  }
}
