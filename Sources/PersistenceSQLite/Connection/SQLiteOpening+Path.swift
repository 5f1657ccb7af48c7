import Foundation
import PersistenceDriver

/// The path of a file, before SQLite opens it.
extension SQLiteOpening {
  /// The name by which SQLite itself opens a database in memory.
  static let memoryName = ":memory:"

  /// The absolute path without symbolic links, after checks that the file can be opened or created; and whether the
  /// system has resolved it as that of an existing file.
  static func resolve(_ path: String, _ configuration: SQLiteConfiguration) throws -> (
    path: String, isReal: Bool
  ) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw PersistenceError(.invalidURL, "a SQLite store needs a path without U+0000")
    }
    guard path != memoryName else {
      throw PersistenceError(
        .invalidURL,
        "the path :memory: would be a file of that name; use MemoryContext for a store in memory, or the path ./:memory: "
          + "for the file")
    }
    // In an absolute path SQLite does not interpret `:memory:` or `file:`.
    let absolute =
      path.utf8.first == UInt8(ascii: "/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    var status = stat()
    if stat(absolute, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw PersistenceError(
          .notAStore, "a SQLite store is a regular file; this is a folder or a special file",
          location: absolute)
      }
      guard status.st_size > 0 || !configuration.isReadOnly else {
        throw PersistenceError(
          .notAStore, "the file is empty, and the store was opened read-only",
          location: absolute)
      }
      // SQLite would treat a file smaller than its smallest page as empty, and overwrite it.
      guard status.st_size == 0 || status.st_size >= 512 else {
        throw PersistenceError(
          .notAStore, "the file is too short for a SQLite database", location: absolute)
      }
      let real = realPath(absolute)
      let resolved = real ?? absolute
      if status.st_size == 0 { try requireNoRemains(of: resolved, isMissing: false) }
      return (resolved, real != nil)
    }
    let reason = errno
    guard reason == ENOENT || reason == ENOTDIR else {
      throw PersistenceError(
        reason == EACCES ? .accessDenied : .inputOutput,
        "the file cannot be inspected: \(String(cString: strerror(reason)))", location: absolute)
    }
    // SQLite would create the target of a symbolic link.
    let missing = linkTarget(of: absolute)
    try requireNoRemains(of: missing, isMissing: true)
    guard configuration.createsMissingFile, !configuration.isReadOnly else {
      throw PersistenceError(
        .missingStore, "the file does not exist, and the store was opened without creating it",
        location: absolute)
    }
    let url = URL(fileURLWithPath: missing)
    guard let folder = realPath(url.deletingLastPathComponent().path) else {
      throw PersistenceError(
        .missingStore, "the file's folder does not exist; create it first",
        location: absolute)
    }
    return ((folder == "/" ? "" : folder) + "/" + url.lastPathComponent, false)
  }

  /// The path to which symbolic links lead from the last name of a path on.
  private static func linkTarget(of path: String) -> String {
    var path = path
    // Linux follows no more than 40 links.
    for _ in 0..<40 {
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
      let folder = path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex)
      path = target.utf8.first == UInt8(ascii: "/") ? target : folder + target
    }
    return path
  }

  /// Throws if a store has left a log beside a file that is missing or empty: SQLite would delete the log.
  private static func requireNoRemains(of path: String, isMissing: Bool) throws {
    for suffix in isMissing ? ["-wal", "-journal"] : ["-wal"] {
      var status = stat()
      guard stat(path + suffix, &status) == 0, isMissing || status.st_size > 0 else { continue }
      // Another process may have created the store in the meantime.
      if stat(path, &status) == 0, isMissing || status.st_size > 0 { return }
      let name = URL(fileURLWithPath: path).lastPathComponent
      throw PersistenceError(
        .damaged,
        "the file \(name) is \(isMissing ? "missing" : "empty") beside \(name)\(suffix), which a store has left; nothing "
          + "was changed; restore \(name) from a backup, or remove \(name)\(suffix) to begin an empty store",
        location: path)
    }
  }

  static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The size of a file; 0 if there is none.
  static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}
