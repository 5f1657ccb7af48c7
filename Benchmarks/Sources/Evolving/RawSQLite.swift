import CRawSQLite

/// An error of a contender's engine, or a wrong command line.
struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// The movies in SQLite's C API.
final class RawSQLite {
  private let handle: OpaquePointer
  private var added = 0

  init(_ path: String, rows: Int) throws {
    var made: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &made, flags, nil) == SQLITE_OK, let made else {
      throw Failure("SQLite does not open \(path)")
    }
    handle = made
    try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST")
    try run(
      "CREATE TABLE movie (id INTEGER PRIMARY KEY, title TEXT NOT NULL, length TEXT NOT NULL, "
        + "votes INTEGER NOT NULL, price REAL NOT NULL)")
    try insert(rows)
    // A function in C's calling convention, as an app without the library would write it.
    let code = sqlite3_create_function_v2(
      handle, "minutes", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
      { context, _, values in
        guard let value = values?[0], let text = sqlite3_value_text(value) else { return }
        let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
        sqlite3_result_int64(context, sqlite3_int64(minutes(bytes)))
      }, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure() }
  }

  deinit { sqlite3_close_v2(handle) }

  private func failure() -> Failure { Failure(String(cString: sqlite3_errmsg(handle))) }

  private func run(_ text: String) throws {
    guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else { throw failure() }
  }

  private func insert(_ rows: Int) throws {
    try run("BEGIN IMMEDIATE")
    var statement: OpaquePointer?
    guard
      sqlite3_prepare_v2(handle, "INSERT INTO movie VALUES (?, ?, ?, ?, ?)", -1, &statement, nil) == SQLITE_OK
    else { throw failure() }
    defer { sqlite3_finalize(statement) }
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for number in 0..<rows {
      let movie = Grown<Old>(number: number)
      sqlite3_bind_int64(statement, 1, sqlite3_int64(movie.id))
      sqlite3_bind_text(statement, 2, movie.title, -1, transient)
      sqlite3_bind_text(statement, 3, movie.length, -1, transient)
      sqlite3_bind_int64(statement, 4, sqlite3_int64(movie.votes))
      sqlite3_bind_double(statement, 5, movie.price)
      guard sqlite3_step(statement) == SQLITE_DONE else { throw failure() }
      sqlite3_reset(statement)
    }
    try run("COMMIT")
  }

  /// Adds a column, and computes its values from `length`.
  func compute() throws {
    added += 1
    try run("BEGIN IMMEDIATE; ALTER TABLE movie ADD COLUMN added\(added) INTEGER NOT NULL DEFAULT 0")
    try run("UPDATE movie SET added\(added) = minutes(length); COMMIT")
  }

  /// Adds a column with a default.
  func addColumn() throws {
    added += 1
    try run("ALTER TABLE movie ADD COLUMN added\(added) INTEGER NOT NULL DEFAULT \(added)")
  }
}
