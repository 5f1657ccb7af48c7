import CSQLite
import Foundation
import PersistenceDriver
import PersistenceSQL

/// Makes errors of the package of SQLite's result codes (contract E2, E5, E7).
enum SQLiteErrorMapping {
  /// The error for a result code.
  ///
  /// - Parameters:
  ///   - code: The extended result code.
  ///   - database: The connection that it came from, for SQLite's words and the system's number.
  ///   - action: What was tried, such as `read from the store`.
  ///   - location: The store.
  /// - Returns: The error, with SQLite's own code and words beneath.
  static func error(_ code: Int32, _ database: OpaquePointer?, _ action: String, _ location: String)
    -> PersistenceError
  {
    let system = database.map { sqlite3_system_errno($0) } ?? 0
    let words = database.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
    let (kind, advice) = meaning(of: code, system: system)
    return PersistenceError(
      kind, "SQLite could not \(action): \(advice)", location: location,
      engineError: PersistenceError.EngineError(
        engine: "SQLite", code: Int(code),
        message: system == 0 || code & 0xFF == SQLITE_CONSTRAINT
          ? words : "\(words) (\(String(cString: strerror(system))))"))
  }

  private static func meaning(of code: Int32, system: Int32) -> (PersistenceError.Code, String) {
    let isFull = system == ENOSPC || system == EDQUOT
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED:
      return (.busy, "another connection holds the store; try again, or raise the busy time-out")
    case SQLITE_FULL: return (.storeFull, "the disk is full; make room and try again")
    case SQLITE_IOERR where isFull: return (.storeFull, "the disk is full; make room and try again")
    case SQLITE_IOERR: return (.inputOutput, "the medium failed; check the disk and the file system")
    case SQLITE_CORRUPT:
      return (.damaged, "the file is damaged; restore it from a copy, or recover it with sqlite3's .recover")
    case SQLITE_NOTADB: return (.notAStore, "the file is no SQLite database, or it is encrypted")
    case SQLITE_READONLY:
      return (
        .readOnly, "the store may only be read; make its file and folder writable, or open it for reading"
      )
    case SQLITE_CANTOPEN where isFull: return (.storeFull, "the disk is full; make room and try again")
    case SQLITE_CANTOPEN where system == ENOENT || system == ENOTDIR:
      return (.missingStore, "the file or its folder does not exist")
    case SQLITE_CANTOPEN where system == EACCES || system == EPERM || system == EROFS:
      return (.accessDenied, "the system refuses access to the file or its folder")
    case SQLITE_CANTOPEN where system == EMFILE || system == ENFILE:
      return (.inputOutput, "too many files are open; release results that are no longer needed")
    case SQLITE_CANTOPEN: return (.inputOutput, "the file could not be opened")
    case SQLITE_PERM, SQLITE_AUTH: return (.accessDenied, "access was refused")
    case SQLITE_TOOBIG: return (.valueTooLarge, "a value is longer than SQLite can hold")
    case SQLITE_CONSTRAINT:
      return (.invalidRequest, "the table's own rules refuse the record; see the engine's words")
    default: return (.engineFailure, "see the engine's words")
    }
  }
}

extension PersistenceError {
  /// Whether SQLite could make nothing of a statement's text.
  var isAboutTheText: Bool { code == .engineFailure && engineError?.code == Int(SQLITE_ERROR) }

  /// The error where a statement of ours, made after the catalog, does not fit the table.
  func unlike(_ model: SQLiteModel) -> PersistenceError {
    PersistenceError(
      .damaged,
      "the table “\(model.table.name)” is not as the store's catalog says; it was changed by another program: "
        + "restore its columns, or the store from a copy", model: model.schema.name, location: location,
      engineError: engineError)
  }
}
