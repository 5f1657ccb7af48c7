import CSQLite
import Foundation
import Testing

/// Another program that uses the file: a plain SQLite connection.
final class Outsider {
  private var handle: OpaquePointer?

  init(_ path: String) throws {
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    sqlite3_busy_timeout(handle, 2_000)
  }

  deinit { sqlite3_close(handle) }

  func execute(_ sql: String) throws {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
  }

  /// Runs a statement whose text may not be valid UTF-8.
  func execute(bytes: [UInt8]) throws {
    let code = (bytes + [0]).withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { sqlite3_exec(handle, $0.baseAddress, nil, nil, nil) }
    }
    try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
  }

  /// Gives this program a function that no other one has, and that returns its argument.
  func addFunction(_ name: String) throws {
    let code = sqlite3_create_function_v2(
      handle, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
      { context, _, arguments in sqlite3_result_value(context, arguments?[0]) }, nil, nil, nil)
    try #require(code == SQLITE_OK)
  }

  /// Replaces the content of the file by that of another one.
  func restore(_ backup: Outsider) throws {
    let copy = try #require(sqlite3_backup_init(handle, "main", backup.handle, "main"))
    let code = sqlite3_backup_step(copy, -1)
    try #require(sqlite3_backup_finish(copy) == SQLITE_OK && code == SQLITE_DONE)
  }

  /// The first column of each row, as text.
  func texts(_ sql: String) throws -> [String] {
    var statement: OpaquePointer?
    try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
    defer { sqlite3_finalize(statement) }
    var texts: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      texts.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "NULL")
    }
    return texts
  }
}
