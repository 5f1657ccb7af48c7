import CLMDB
import Foundation
import PersistenceDriver

/// A result code of LMDB, which is negative, or of the system.
struct LMDBFailure: Error {
  let code: Int32
  /// The attempted action, such as `read a record`.
  let action: String

  /// Throws unless the code means success.
  @inline(__always)
  static func check(_ code: Int32, _ action: @autoclosure () -> String) throws {
    if code != MDB_SUCCESS { throw LMDBFailure(code: code, action: action()).error() }
  }

  /// The error of the package, with LMDB's code and message as the engine error (contract E2, E5, E7).
  func error(location: String? = nil, mapSize: Int? = nil) -> PersistenceError {
    let (kind, advice) = meaning(mapSize)
    return PersistenceError(
      kind, "LMDB could not \(action): \(advice)", location: location,
      engineError: PersistenceError.EngineError(
        engine: "LMDB", code: Int(code), message: String(cString: mdb_strerror(code))))
  }

  private func meaning(_ mapSize: Int?) -> (PersistenceError.Code, String) {
    switch code {
    case MDB_MAP_FULL:
      let size = mapSize.map { " of \($0) bytes" } ?? ""
      return (
        .storeFull,
        "the store has reached its map size\(size); committed data is intact; open it with a larger mapsize "
          + "(LMDBConfiguration.mapSize), or delete records and release long-held results"
      )
    case MDB_MAP_RESIZED:
      return (
        .storeFull,
        "another process has grown the store beyond this process's map, which cannot change while results are "
          + "alive; release them, or open the store with a larger mapsize (LMDBConfiguration.mapSize)"
      )
    case MDB_TXN_FULL: return (.storeFull, "the transaction is too large; split it into smaller ones")
    case MDB_READERS_FULL:
      return (
        .busy,
        "all reader slots are in use; release results that are no longer needed, or open the store with "
          + "more readers (LMDBConfiguration.maximumReaders)"
      )
    case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INCOMPATIBLE, MDB_BAD_DBI, MDB_CURSOR_FULL:
      return (.damaged, "the file is damaged; it was not changed; restore it from a backup")
    case MDB_INVALID:
      return (.notAStore, "the file is no LMDB store; it was not changed; use another path")
    case MDB_VERSION_MISMATCH:
      return (
        .notAStore, "another version of LMDB created the file; it was not changed; open it with that version"
      )
    case MDB_PANIC:
      return (.inputOutput, "an earlier write failed; release all results, and the store reopens")
    case MDB_BAD_TXN: return (.engineFailure, "the transaction has failed; begin a new one")
    case MDB_BAD_VALSIZE: return (.valueTooLarge, "a key or a value exceeds LMDB's limit")
    case MDB_NOTFOUND: return (.damaged, "an expected entry is missing; restore the store from a backup")
    case ENOSPC, EDQUOT, EFBIG:
      return (.storeFull, "the disk is full; committed data is intact; free space and retry")
    case EIO: return (.inputOutput, "the device failed; check the disk and the file system")
    case EACCES, EPERM:
      return (.accessDenied, "the system denies access to the files or their folder; check their permissions")
    case EROFS:
      return (.readOnly, "the file system is read-only; open the store with readonly=true, or move it")
    case ENOENT, ENOTDIR: return (.missingStore, "the file or its folder does not exist")
    case ENOMEM:
      return (.engineFailure, "memory or address space is exhausted; use a smaller mapsize, or close stores")
    case EMFILE, ENFILE: return (.inputOutput, "too many files are open; close unused stores")
    case EINVAL: return (.engineFailure, "LMDB rejected the call")
    default: return (.engineFailure, "see the engine's message")
    }
  }
}

extension PersistenceError {
  /// Whether LMDB returned this code.
  func isLMDB(_ code: Int32) -> Bool { engineError?.engine == "LMDB" && engineError?.code == Int(code) }
}
