import CRawLMDB
import CRawSQLite
import Foundation

/// Copies with the C interfaces: one transaction, one thread, and columns passed through directly.
final class RawCopying {
  private let sqlite: RawSQLite
  private let lmdb: LMDBFile
  private let folder: Folder
  private let input: Input

  init(_ folder: Folder, _ input: Input) throws {
    self.folder = folder
    self.input = input
    sqlite = try RawSQLite(folder, input, filled: false)
    try sqlite.makeTables()
    try sqlite.insert(input.movies, .insert)
    let file = try LMDBFile(folder.path("source"))
    lmdb = file
    try file.write { transaction in
      for movie in input.movies {
        PackedMovie.pack(
          movie, into: try file.append(movie.id, count: PackedMovie.length(of: movie), in: transaction))
      }
    }
  }

  func sqliteToLMDB(_ watch: inout Stopwatch) throws -> Answer {
    let file = try LMDBFile(try folder.new("new").path)
    try watch.measure {
      try file.write { transaction in
        try sqlite.read(try sqlite.prepared(.all)) { row in
          let texts = [2, 3, 9].reduce(0) { $0 + Int(sqlite3_column_bytes(row, $1)) }
          let place = try file.append(sqlite3_column_int64(row, 0), count: 64 + texts, in: transaction)
          try PackedMovie.pack(row: row, into: place)
        }
      }
    }
    var answer = Answer()
    try file.read { transaction in
      try file.scan(file.movies, in: transaction) { _, value in
        guard let data = value.mv_data else { throw Failure("no movie") }
        answer.add(PackedMovie(data).movie())
      }
    }
    return answer
  }

  func lmdbToSQLite(_ watch: inout Stopwatch) throws -> Answer {
    try sqlite.withNewStore { store in
      try watch.measure {
        try store.run(.begin)
        let statement = try store.prepared(.insert)
        try lmdb.read { transaction in
          try lmdb.scan(lmdb.movies, in: transaction) { _, value in
            guard let data = value.mv_data else { throw Failure("no movie") }
            PackedMovie(data).bind(to: statement)
            try store.step(statement)
          }
        }
        try store.run(.commit)
      }
      return try store.content()
    }
  }

  func sqliteToSQLite(_ watch: inout Stopwatch) throws -> Answer {
    try sqlite.withNewStore { store in
      try watch.measure {
        try store.run(.begin)
        let statement = try store.prepared(.insert)
        try sqlite.read(try sqlite.prepared(.all)) { row in
          for column in 0..<Int32(10) { Self.pass(column, of: row, to: statement) }
          try store.step(statement)
        }
        try store.run(.commit)
      }
      return try store.content()
    }
  }

  /// Binds a column of a row, whose bytes stay valid until the next row.
  @inline(__always)
  private static func pass(_ column: Int32, of row: OpaquePointer, to statement: OpaquePointer) {
    let parameter = column + 1
    switch sqlite3_column_type(row, column) {
    case SQLITE_INTEGER: sqlite3_bind_int64(statement, parameter, sqlite3_column_int64(row, column))
    case SQLITE_FLOAT: sqlite3_bind_double(statement, parameter, sqlite3_column_double(row, column))
    case SQLITE_TEXT:
      let text = UnsafeRawPointer(sqlite3_column_text(row, column))?.assumingMemoryBound(to: CChar.self)
      sqlite3_bind_text(statement, parameter, text, sqlite3_column_bytes(row, column), nil)
    case SQLITE_BLOB:
      let blob = sqlite3_column_blob(row, column)
      sqlite3_bind_blob(statement, parameter, blob, sqlite3_column_bytes(row, column), nil)
    default: sqlite3_bind_null(statement, parameter)
    }
  }
}

extension RawSQLite {
  /// Runs a statement with bound parameters.
  @inline(__always)
  fileprivate func step(_ statement: OpaquePointer) throws {
    let code = sqlite3_step(statement)
    sqlite3_reset(statement)
    guard code == SQLITE_DONE else { throw Self.failure(of: handle) }
  }
}

extension PackedMovie {
  /// Packs a statement's current row.
  @inline(__always)
  fileprivate static func pack(row: OpaquePointer, into base: UnsafeMutableRawPointer) throws {
    guard let uuid = sqlite3_column_blob(row, 1), let rating = sqlite3_column_text(row, 6) else {
      throw Failure("no movie")
    }
    base.storeBytes(of: sqlite3_column_int64(row, 0), as: Int64.self)
    (base + 8).copyMemory(from: uuid, byteCount: 16)
    base.storeBytes(of: sqlite3_column_double(row, 4), toByteOffset: 24, as: Double.self)
    base.storeBytes(of: sqlite3_column_double(row, 5), toByteOffset: 32, as: Double.self)
    base.storeBytes(of: sqlite3_column_double(row, 7), toByteOffset: 40, as: Double.self)
    base.storeBytes(of: Int(sqlite3_column_int64(row, 8)), toByteOffset: 48, as: Int.self)
    let hasGross = sqlite3_column_type(row, 5) != SQLITE_NULL
    base.storeBytes(of: hasGross ? 1 : 0, toByteOffset: 56, as: UInt8.self)
    let text = UnsafeBufferPointer(start: rating, count: Int(sqlite3_column_bytes(row, 6)))
    guard let number = ratingTexts.firstIndex(where: { $0.elementsEqual(text) }) else {
      throw Failure("no rating")
    }
    base.storeBytes(of: UInt8(number), toByteOffset: 57, as: UInt8.self)
    var place = base + 64
    for (column, offset) in [(2, 58), (3, 60), (9, 62)] as [(Int32, Int)] {
      let count = Int(sqlite3_column_bytes(row, column))
      base.storeBytes(of: UInt16(count), toByteOffset: offset, as: UInt16.self)
      if let start = sqlite3_column_text(row, column) { place.copyMemory(from: start, byteCount: count) }
      place += count
    }
  }

  private static let ratingTexts = ratings.map { Array($0.rawValue.utf8) }

  /// Binds all fields in place.
  @inline(__always)
  fileprivate func bind(to statement: OpaquePointer) {
    sqlite3_bind_int64(statement, 1, load(0, as: Int64.self))
    sqlite3_bind_blob(statement, 2, base + 8, 16, nil)
    sqlite3_bind_double(statement, 5, load(24, as: Double.self))
    if load(56, as: UInt8.self) == 0 {
      sqlite3_bind_null(statement, 6)
    } else {
      sqlite3_bind_double(statement, 6, load(32, as: Double.self))
    }
    Self.ratingTexts[Int(load(57, as: UInt8.self))].withUnsafeBufferPointer { text in
      // The array is a constant and does not move.
      text.withMemoryRebound(to: CChar.self) { text in
        _ = sqlite3_bind_text(statement, 7, text.baseAddress, Int32(text.count), nil)
      }
    }
    sqlite3_bind_double(statement, 8, load(40, as: Double.self))
    sqlite3_bind_int64(statement, 9, load(48, as: Int64.self))
    var place = base + 64
    for (parameter, offset) in [(3, 58), (4, 60), (10, 62)] as [(Int32, Int)] {
      let count = Int(load(offset, as: UInt16.self))
      sqlite3_bind_text(statement, parameter, place.assumingMemoryBound(to: CChar.self), Int32(count), nil)
      place += count
    }
  }
}
