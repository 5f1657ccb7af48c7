import CRawSQLite

/// An error of a contender's engine, or a wrong result.
struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// The records in SQLite's C API, with a deferred foreign key that cascades.
final class RawSQLite {
  static let tables = """
    CREATE TABLE studio (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country INTEGER NOT NULL);
    CREATE TABLE film (id INTEGER PRIMARY KEY, title TEXT NOT NULL, votes INTEGER NOT NULL,
      studioId INTEGER NOT NULL REFERENCES studio (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
    CREATE INDEX film_studio ON film (studioId);
    """

  private let handle: OpaquePointer
  private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  init(_ path: String) throws {
    var made: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &made, flags, nil) == SQLITE_OK, let made else {
      throw Failure("SQLite does not open \(path)")
    }
    handle = made
    try run(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST; PRAGMA foreign_keys = ON"
    )
    try run(Self.tables)
  }

  deinit { sqlite3_close_v2(handle) }

  func run(_ text: String) throws {
    guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else {
      throw Failure(String(cString: sqlite3_errmsg(handle)))
    }
  }

  /// Runs a statement for each of some bindings, in one transaction.
  private func insert(_ text: String, _ numbers: Range<Int>, _ bind: (OpaquePointer, Int) -> Void) throws {
    try run("BEGIN IMMEDIATE")
    try prepared(text) { statement in
      for number in numbers {
        bind(statement, number)
        guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure("an insertion failed") }
        sqlite3_reset(statement)
      }
    }
    try run("COMMIT")
  }

  func insertStudios(_ numbers: Range<Int>) throws {
    try insert("INSERT INTO studio VALUES (?, ?, ?)", numbers) { statement, number in
      let studio = Studio(number: number)
      sqlite3_bind_int64(statement, 1, Int64(studio.id))
      sqlite3_bind_text(statement, 2, studio.name, -1, transient)
      sqlite3_bind_int64(statement, 3, Int64(studio.country))
    }
  }

  func insertFilms(_ numbers: Range<Int>, _ film: (Int) -> Film) throws {
    try insert("INSERT INTO film VALUES (?, ?, ?, ?)", numbers) { statement, number in
      let film = film(number)
      sqlite3_bind_int64(statement, 1, Int64(film.id))
      sqlite3_bind_text(statement, 2, film.title, -1, transient)
      sqlite3_bind_int64(statement, 3, Int64(film.votes))
      sqlite3_bind_int64(statement, 4, Int64(film.studio.key))
    }
  }

  private func prepared<Result>(_ text: String, _ body: (OpaquePointer) throws -> Result) throws -> Result {
    var made: OpaquePointer?
    guard sqlite3_prepare_v2(handle, text, -1, &made, nil) == SQLITE_OK, let made else {
      throw Failure(String(cString: sqlite3_errmsg(handle)))
    }
    defer { sqlite3_finalize(made) }
    return try body(made)
  }

  private func film(_ row: OpaquePointer) -> Film {
    Film(
      id: Int(sqlite3_column_int64(row, 0)), title: text(row, 1), votes: Int(sqlite3_column_int64(row, 2)),
      studio: Int(sqlite3_column_int64(row, 3)))
  }

  private func studio(_ row: OpaquePointer, at column: Int32) -> Studio {
    Studio(
      id: Int(sqlite3_column_int64(row, column)), name: text(row, column + 1),
      country: Int(sqlite3_column_int64(row, column + 2)))
  }

  private func text(_ row: OpaquePointer, _ column: Int32) -> String {
    let bytes = UnsafeBufferPointer(
      start: sqlite3_column_text(row, column), count: Int(sqlite3_column_bytes(row, column)))
    return String(decoding: bytes, as: UTF8.self)
  }

  private func all<Element>(
    _ text: String, _ bindings: [Int], _ element: (OpaquePointer) -> Element
  ) throws -> [Element] {
    try prepared(text) { statement in
      for (index, value) in bindings.enumerated() {
        sqlite3_bind_int64(statement, Int32(index + 1), Int64(value))
      }
      var elements: [Element] = []
      while sqlite3_step(statement) == SQLITE_ROW { elements.append(element(statement)) }
      return elements
    }
  }

  /// A page of films with their studios.
  func page(after id: Int, size: Int) throws -> [(Film, Studio)] {
    try all(
      "SELECT film.*, studio.* FROM film LEFT JOIN studio ON studio.id = film.studioId WHERE film.id > ? ORDER BY film.id LIMIT ?",
      [id, size]
    ) { (film($0), studio($0, at: 4)) }
  }

  /// The films of a country's studios.
  func films(country: Int) throws -> [Film] {
    try all(
      "SELECT * FROM film WHERE EXISTS (SELECT 1 FROM studio WHERE studio.id = film.studioId AND country = ?) ORDER BY id",
      [country], film)
  }

  /// Studios with their films.
  func studios(upTo id: Int) throws -> [(Studio, [Film])] {
    let films = try all("SELECT * FROM film WHERE studioId <= ? ORDER BY id", [id], film)
    let lists = Dictionary(grouping: films) { $0.studio.key }
    return try all("SELECT * FROM studio WHERE id <= ? ORDER BY id", [id]) { studio($0, at: 0) }
      .map { ($0, lists[$0.id] ?? []) }
  }
}
