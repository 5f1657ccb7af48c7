import CRawSQLite
import Foundation

/// SQLite's C API, used efficiently: statements prepared once, columns read by position, text bound without
/// copying.
final class RawSQLite {
  let handle: OpaquePointer
  private var statements: [OpaquePointer?] = Array(repeating: nil, count: Statement.allCases.count)
  let folder: Folder
  let input: Input

  init(_ folder: Folder, _ input: Input, filled: Bool = true, name: String = "raw.sqlite") throws {
    self.folder = folder
    self.input = input
    handle = try Self.open(folder.path(name))
    guard filled else { return }
    try makeTables()
    for statement in [Statement.insert, .insertIndexed] { try insert(input.movies, statement) }
    let opened = try RawSQLite(folder, input, filled: false, name: "opened.sqlite")
    try opened.makeTables()
    try opened.insert(input.singles, .insert)
  }

  deinit {
    for statement in statements { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  private static func open(_ path: String) throws -> OpaquePointer {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(path, &handle, flags, nil)
    guard code == SQLITE_OK, let handle else { throw Failure("SQLite does not open \(path): \(code)") }
    sqlite3_busy_timeout(handle, 5_000)
    let settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST"
    guard sqlite3_exec(handle, settings, nil, nil, nil) == SQLITE_OK else { throw failure(of: handle) }
    return handle
  }

  static func failure(of handle: OpaquePointer) -> Failure {
    Failure(String(cString: sqlite3_errmsg(handle)))
  }

  func makeTables() throws {
    let columns = """
      id INTEGER PRIMARY KEY, uuid BLOB NOT NULL, title TEXT NOT NULL, genre TEXT NOT NULL,
      budget REAL NOT NULL, gross REAL, rating TEXT NOT NULL, releasedAt REAL NOT NULL,
      votes INTEGER NOT NULL, overview TEXT NOT NULL
      """
    try execute(
      "CREATE TABLE movie (\(columns)); CREATE TABLE indexed (\(columns));"
        + "CREATE INDEX indexedByVotes ON indexed (votes)")
  }

  func execute(_ text: String) throws {
    guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else { throw Self.failure(of: handle) }
  }
}

/// Statements.
extension RawSQLite {
  func prepared(_ statement: Statement) throws -> OpaquePointer {
    if let known = statements[statement.rawValue] { return known }
    var made: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    guard sqlite3_prepare_v3(handle, statement.text, -1, flags, &made, nil) == SQLITE_OK, let made else {
      throw Self.failure(of: handle)
    }
    statements[statement.rawValue] = made
    return made
  }

  func run(_ statement: Statement) throws {
    let prepared = try prepared(statement)
    let code = sqlite3_step(prepared)
    sqlite3_reset(prepared)
    guard code == SQLITE_DONE else { throw Self.failure(of: handle) }
  }

  /// Steps through the rows of a statement with bound parameters.
  @inline(__always)
  func read(_ statement: OpaquePointer, _ body: (OpaquePointer) throws -> Void) throws {
    var code = sqlite3_step(statement)
    while code == SQLITE_ROW {
      try body(statement)
      code = sqlite3_step(statement)
    }
    sqlite3_reset(statement)
    guard code == SQLITE_DONE else { throw Self.failure(of: handle) }
  }

  private func select(_ statement: Statement) throws -> [Movie] {
    var movies: [Movie] = []
    let prepared = try prepared(statement)
    sqlite3_bind_int64(prepared, 1, Int64(Input.manyVotes))
    try read(prepared) { movies.append(try Movie(row: $0)) }
    return movies
  }

  func insert(_ movies: [Movie], _ statement: Statement) throws {
    try run(.begin)
    let prepared = try prepared(statement)
    for movie in movies { try write(movie, prepared) }
    try run(.commit)
  }

  @inline(__always)
  func write(_ movie: Movie, _ statement: OpaquePointer) throws {
    let code = movie.withBound(to: statement) { sqlite3_step(statement) }
    sqlite3_reset(statement)
    guard code == SQLITE_DONE else { throw Self.failure(of: handle) }
  }

  func content() throws -> Answer {
    var answer = Answer()
    try read(try prepared(.all)) { answer.add(try Movie(row: $0)) }
    return answer
  }

  func withNewStore(_ body: (RawSQLite) throws -> Answer) throws -> Answer {
    try folder.remove("new")
    let store = try RawSQLite(folder, input, filled: false, name: "new.sqlite")
    try store.makeTables()
    return try body(store)
  }
}

/// Reading.
extension RawSQLite {
  func fetchAll(_ watch: inout Stopwatch) throws -> Answer {
    Answer(try watch.measure { try all() })
  }

  private func all() throws -> [Movie] {
    var movies: [Movie] = []
    try read(try prepared(.all)) { movies.append(try Movie(row: $0)) }
    return movies
  }

  func iterate(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      try read(try prepared(.all)) { answer.addLightly(try Movie(row: $0)) }
    }
    return answer
  }

  /// The array again, with the lighter check of the contenders that keep nothing.
  func fetchAllLightly(_ watch: inout Stopwatch) throws -> Answer {
    let movies = try watch.measure { try all() }
    var answer = Answer()
    for movie in movies { answer.addLightly(movie) }
    return answer
  }

  func getByKey(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for key in input.keys {
        if let movie = try find(key) { answer.addLightly(movie) }
      }
    }
    return answer
  }

  @inline(__always)
  func find(_ key: Int64) throws -> Movie? {
    let statement = try prepared(.one)
    sqlite3_bind_int64(statement, 1, key)
    defer { sqlite3_reset(statement) }
    return sqlite3_step(statement) == SQLITE_ROW ? try Movie(row: statement) : nil
  }

  func selectByIndex(_ watch: inout Stopwatch) throws -> Answer {
    Answer(try watch.measure { try select(.selectedIndexed) })
  }

  func selectByScan(_ watch: inout Stopwatch) throws -> Answer {
    Answer(try watch.measure { try select(.selected) })
  }

  func count(_ watch: inout Stopwatch) throws -> Answer {
    try watch.measure {
      var answer = Answer()
      let statement = try prepared(.count)
      sqlite3_bind_int64(statement, 1, Int64(Input.manyVotes))
      try read(statement) { answer = Answer(count: Int(sqlite3_column_int64($0, 0))) }
      return answer
    }
  }

  func open(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    for movie in input.singles.prefix(Library.openings) {
      let (found, store) = try watch.measure {
        let store = try RawSQLite(folder, input, filled: false, name: "opened.sqlite")
        return (try store.find(movie.id), store)
      }
      if let found { answer.add(found) }
      withExtendedLifetime(store) {}
    }
    return answer
  }
}

/// Writing.
extension RawSQLite {
  func insertAll(_ watch: inout Stopwatch) throws -> Answer {
    try withNewStore { store in
      try watch.measure { try store.insert(input.movies, .insert) }
      return try store.content()
    }
  }

  func insertSingles(_ watch: inout Stopwatch) throws -> Answer {
    try withNewStore { store in
      let statement = try store.prepared(.insert)
      // Without BEGIN, each statement is its own transaction.
      try watch.measure { for movie in input.singles { try store.write(movie, statement) } }
      return try store.content()
    }
  }

  func update(_ watch: inout Stopwatch) throws -> Answer {
    try watch.measure { try insert(input.changes, .update) }
    return try content()
  }

  func deleteAll(_ watch: inout Stopwatch) throws -> Answer {
    try withNewStore { store in
      try store.insert(input.movies, .insert)
      try watch.measure { try store.run(.deleteAll) }
      return try store.content()
    }
  }
}
