import CRawLMDB
import CRawSQLite

extension RawSQLite {
  /// Returns ten movies by their votes, at many positions of the index.
  func tenByIndex(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      let statement = try prepared(.tenByIndex)
      for start in Input.starts {
        sqlite3_bind_int64(statement, 1, Int64(start))
        try read(statement) { answer.addLightly(try Movie(row: $0)) }
      }
    }
    return answer
  }
}

extension RawLMDB {
  /// Returns ten movies by their votes, at many positions of the index.
  func tenByIndex(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for start in Input.starts {
        try file.read { transaction in
          try withUnsafeBytes(of: UInt64(start).bigEndian) { first in
            try file.scan(file.votes, from: first, in: transaction, limit: 10) { key, _ in
              let id = key.mv_data.loadUnaligned(fromByteOffset: 8, as: Int64.self).byteSwapped
              guard let value = try file.value(of: id, in: transaction) else { throw Failure("no movie") }
              answer.addLightly(try Self.movie(of: value).movie())
            }
          }
        }
      }
    }
    return answer
  }

  func iterate(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      try file.read { transaction in
        try file.scan(file.movies, in: transaction) { _, value in
          answer.addLightly(try Self.movie(of: value).movie())
        }
      }
    }
    return answer
  }
}
