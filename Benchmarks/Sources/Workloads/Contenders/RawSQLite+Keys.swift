import CRawSQLite
import Foundation

/// The same movies by keys that are not numbers, in tables without row ids.
extension RawSQLite {
  /// Creates and fills the tables.
  func fillByOtherKeys() throws {
    func columns(_ key: String) -> String {
      let columns = """
        id INTEGER NOT NULL, uuid BLOB NOT NULL, title TEXT NOT NULL, genre TEXT NOT NULL, budget REAL NOT NULL,
        gross REAL, rating TEXT NOT NULL, releasedAt REAL NOT NULL, votes INTEGER NOT NULL, overview TEXT NOT NULL
        """
      return "(\(columns), PRIMARY KEY (\(key))) WITHOUT ROWID"
    }
    try execute("CREATE TABLE byTitle \(columns("title")); CREATE TABLE byUUID \(columns("uuid"))")
    try insert(input.byTitle, .insertByTitle)
    try insert(input.byUUID, .insertByUUID)
  }

  func fetchAllByTitle(_ watch: inout Stopwatch) throws -> Answer {
    Answer(try watch.measure { try all(.allByTitle) })
  }

  func fetchAllByUUID(_ watch: inout Stopwatch) throws -> Answer {
    Answer(try watch.measure { try all(.allByUUID) })
  }

  private func all(_ statement: Statement) throws -> [Movie] {
    var movies: [Movie] = []
    try read(try prepared(statement)) { movies.append(try Movie(row: $0)) }
    return movies
  }

  func getByTitle(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      let statement = try prepared(.oneByTitle)
      for var title in input.titles {
        try title.withUTF8 { bytes in
          try bytes.withMemoryRebound(to: CChar.self) { bytes in
            _ = sqlite3_bind_text(statement, 1, bytes.baseAddress, Int32(bytes.count), nil)
            if sqlite3_step(statement) == SQLITE_ROW { answer.addLightly(try Movie(row: statement)) }
            sqlite3_reset(statement)
          }
        }
      }
    }
    return answer
  }

  func getByUUID(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      let statement = try prepared(.oneByUUID)
      for uuid in input.uuids {
        try withUnsafeBytes(of: uuid.uuid) { bytes in
          _ = sqlite3_bind_blob(statement, 1, bytes.baseAddress, 16, nil)
          if sqlite3_step(statement) == SQLITE_ROW { answer.addLightly(try Movie(row: statement)) }
          sqlite3_reset(statement)
        }
      }
    }
    return answer
  }
}
