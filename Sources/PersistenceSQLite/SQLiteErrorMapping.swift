import CSQLite
import Foundation
import PersistenceDriver
import PersistenceSQL

/// Maps SQLite's result codes to the package's errors (contract E2, E5, E7).
enum SQLiteErrorMapping {
  /// The error for an extended result code, with SQLite's own code and message as the engine error.
  static func error(_ code: Int32, _ database: OpaquePointer?, _ action: String, _ location: String)
    -> PersistenceError
  {
    let system = database.map { sqlite3_system_errno($0) } ?? 0
    let message =
      database.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
    let (kind, advice) = meaning(of: code, system: system)
    return PersistenceError(
      kind, "SQLite could not \(action): \(advice)", location: location,
      engineError: PersistenceError.EngineError(
        engine: "SQLite", code: Int(code),
        message: system == 0 || code & 0xFF == SQLITE_CONSTRAINT
          ? message : "\(message) (\(String(cString: strerror(system))))"))
  }

  private static let moved: (PersistenceError.Code, String) = (
    .missingStore,
    "another program has removed or replaced a file of the store while it was open; close the context, and open the path "
      + "again"
  )

  private static func meaning(of code: Int32, system: Int32) -> (PersistenceError.Code, String) {
    let isFull = system == ENOSPC || system == EDQUOT
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED:
      return (.busy, "another connection has locked the store; retry, or raise the busy time-out")
    case SQLITE_FULL: return (.storeFull, "the disk is full; free some space and retry")
    case SQLITE_IOERR where code == SQLITE_IOERR | 27 << 8: return moved  // SQLITE_IOERR_VNODE
    case SQLITE_IOERR where code == SQLITE_IOERR | 32 << 8:  // SQLITE_IOERR_DATA
      return (
        .damaged,
        "the checksum of a page is wrong: the medium has changed the page, or a program without this package has written "
          + "it; restore the store from a backup"
      )
    // The file system of `CSQLiteFiles` returns it for a full disk only.
    case SQLITE_IOERR where isFull || code == SQLITE_IOERR | 19 << 8:  // SQLITE_IOERR_SHMSIZE
      return (.storeFull, "the disk is full; free some space and retry")
    case SQLITE_IOERR: return (.inputOutput, "the storage device failed; check the disk and the file system")
    case SQLITE_CORRUPT:
      return (
        .damaged, "the file is damaged; restore it from a backup, or recover it with sqlite3's .recover"
      )
    case SQLITE_NOTADB: return (.notAStore, "the file is not a SQLite database, or it is encrypted")
    case SQLITE_READONLY where code == SQLITE_READONLY | 4 << 8: return moved  // SQLITE_READONLY_DBMOVED
    case SQLITE_READONLY:
      return (
        .readOnly, "the store cannot be written; make its file and folder writable, or open it read-only"
      )
    case SQLITE_CANTOPEN where isFull: return (.storeFull, "the disk is full; free some space and retry")
    case SQLITE_CANTOPEN where system == ENOENT || system == ENOTDIR:
      return (.missingStore, "the file or its folder does not exist")
    case SQLITE_CANTOPEN where system == EACCES || system == EPERM || system == EROFS:
      return (.accessDenied, "the system denies access to the file or its folder; check their permissions")
    case SQLITE_CANTOPEN where system == EMFILE || system == ENFILE:
      return (.inputOutput, "too many files are open; release results that are no longer needed")
    case SQLITE_CANTOPEN: return (.inputOutput, "the file could not be opened; see the engine's message")
    case SQLITE_PERM, SQLITE_AUTH: return (.accessDenied, "access was denied")
    case SQLITE_TOOBIG: return (.valueTooLarge, "a value exceeds SQLite's size limit")
    case SQLITE_CONSTRAINT:
      return (.invalidRequest, "a constraint of the table rejects the record; see the engine's message")
    default: return (.engineFailure, "see the engine's message")
    }
  }
}

extension PersistenceError {
  /// The error of a failed commit.
  ///
  /// SQLite writes a transaction's last frame before it flushes and before it extends the log's index, and ends a rollback
  /// journal by deleting it. If one of these calls fails, this process goes on without the transaction, but a later
  /// recovery may find it complete.
  var ofCommit: PersistenceError {
    let (flush, flushFolder, delete, extendIndex, mapIndex): (Int32, Int32, Int32, Int32, Int32) = (
      4, 5, 10, 19, 21
    )
    let codes = [flush, flushFolder, delete, extendIndex, mapIndex].map { Int(SQLITE_IOERR | $0 << 8) }
    guard let engineError, engineError.engine == "SQLite", codes.contains(engineError.code) else {
      return self
    }
    var error = self
    error.code = .outcomeUnknown
    error.message =
      "SQLite could not complete the commit: the store does not show the transaction, but may after a crash; check the "
      + "disk, and repeat the transaction if it may run twice; otherwise close all contexts of the store, open it again, "
      + "and read what it holds"
    return error
  }

  /// A file with several names: SQLite keeps a log for each name, and drops commits of the others (contract C2).
  static func hardLinks(_ location: String, count: Int) -> PersistenceError {
    PersistenceError(
      .unsupported,
      "the file has \(count) names (hard links), and SQLite would lose commits, since it keeps a log beside each name; "
        + "nothing was written; remove the other names, which find -samefile lists, or use a copy of the file",
      location: location)
  }

  /// Whether SQLite rejected a statement's text.
  var isSQLError: Bool {
    code == .engineFailure && engineError.map { Int32(truncatingIfNeeded: $0.code) & 0xFF } == SQLITE_ERROR
  }

  /// Whether SQLite rejected a statement because the table's definition uses a function or a collation that this
  /// connection does not have, or must not call; SQLite's codes do not tell.
  private var lacksFunction: Bool {
    ["unknown function", "no such function", "unsafe use of", "no such collation sequence"].contains {
      engineError?.message.hasPrefix($0) == true
    }
  }

  /// The error for a table of another program whose names or definition SQLite rejects.
  func unusableTable(_ name: String) -> PersistenceError {
    PersistenceError(
      .unsupported,
      "the SQLite context cannot use the table “\(name)” as a model, because SQLite rejects a name or an expression in "
        + "its definition (\(engineError?.message ?? message)); change the definition with the program that made it",
      model: name, location: location, engineError: engineError)
  }

  /// The error for a statement that the catalog's definition allows, but the table rejects.
  func catalogMismatch(_ model: SQLiteModel) -> PersistenceError {
    if lacksFunction {
      return PersistenceError(
        .unsupported,
        "SQLite cannot run this on the table “\(model.table.name)”: its definition, an index or a trigger needs a "
          + "function or a collation that only another program has (see the engine's message); use that program, or "
          + "remove what needs it", model: model.schema.name, location: location, engineError: engineError)
    }
    return PersistenceError(
      .damaged,
      "the table “\(model.table.name)” does not match the store's catalog: another program has changed it; restore its "
        + "columns, or the store from a backup", model: model.schema.name, location: location,
      engineError: engineError)
  }
}
