import CLMDB
import Foundation
import PersistenceDriver

/// A result code of LMDB: its own negative ones, or one of the system's.
struct LMDBFailure: Error {
  let code: Int32
  /// What was tried, such as `read a record`.
  let action: String

  /// Throws where a code is not that of success.
  @inline(__always)
  static func check(_ code: Int32, _ action: @autoclosure () -> String) throws {
    if code != MDB_SUCCESS { throw LMDBFailure(code: code, action: action()).error() }
  }
}

extension LMDBFailure {
  /// The error of the package (contract E2, E5, E7).
  ///
  /// - Parameters:
  ///   - location: The store, where it is known.
  ///   - mapSize: The size of the map, for the message of a full one.
  /// - Returns: The error, with LMDB's own code and words beneath.
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
        "the store has reached its map\(size); what was committed is kept; open it with a larger mapsize "
          + "(LMDBConfiguration.mapSize), or delete records and release long-held results"
      )
    case MDB_MAP_RESIZED:
      return (
        .storeFull,
        "another process has grown the store beyond this one's map, which cannot be changed while results are "
          + "alive; release them, or open the store with a larger mapsize (LMDBConfiguration.mapSize)"
      )
    case MDB_TXN_FULL: return (.storeFull, "the transaction has become too large; commit in smaller steps")
    case MDB_READERS_FULL:
      return (
        .busy,
        "every place for a reader is taken; release results that are no longer needed, or open the store with "
          + "more readers (LMDBConfiguration.maximumReaders)"
      )
    case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INCOMPATIBLE, MDB_BAD_DBI, MDB_CURSOR_FULL:
      return (.damaged, "the file is damaged; nothing was changed; restore it from a copy")
    case MDB_INVALID:
      return (.notAStore, "the file is no LMDB store; nothing was changed; give another path")
    case MDB_VERSION_MISMATCH:
      return (.notAStore, "the file was made by another version of LMDB; nothing was changed")
    case MDB_PANIC:
      return (.inputOutput, "writing failed before; release all results, and the store is opened anew")
    case MDB_BAD_TXN: return (.engineFailure, "the transaction failed before and is of no more use")
    case MDB_BAD_VALSIZE: return (.valueTooLarge, "a key or a value is longer than LMDB can hold")
    case MDB_NOTFOUND: return (.damaged, "what must be there is not; restore the store from a copy")
    case ENOSPC, EDQUOT, EFBIG:
      return (.storeFull, "the disk is full; what was committed is kept; make room and try again")
    case EIO: return (.inputOutput, "the medium failed; check the disk and the file system")
    case EACCES, EPERM: return (.accessDenied, "the system refuses access to the files or their folder")
    case EROFS:
      return (.readOnly, "the file system may only be read; open the store with readonly=true, or move it")
    case ENOENT, ENOTDIR: return (.missingStore, "the file or its folder does not exist")
    case ENOMEM:
      return (
        .engineFailure, "there is no memory or address space left; give a smaller mapsize, or close stores"
      )
    case EMFILE, ENFILE: return (.inputOutput, "too many files are open; close stores that are not needed")
    case EINVAL: return (.engineFailure, "LMDB refused the call")
    default: return (.engineFailure, "see the engine's words")
    }
  }
}

extension PersistenceError {
  /// Whether LMDB said this.
  func isLMDB(_ code: Int32) -> Bool { engineError?.engine == "LMDB" && engineError?.code == Int(code) }
}
