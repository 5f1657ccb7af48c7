import CRawLMDB
import Foundation

/// The same movies by keys that are not numbers, in separate files.
final class RawLMDBByOtherKeys {
  private let byTitle: LMDBFile
  private let byUUID: LMDBFile
  private let input: Input

  init(_ folder: Folder, _ input: Input) throws {
    self.input = input
    byTitle = try LMDBFile(folder.path("byTitle"))
    byUUID = try LMDBFile(folder.path("byUUID"))
    try byTitle.write { transaction in
      for movie in input.byTitle {
        var title = movie.title
        try title.withUTF8 { try byTitle.append(movie, UnsafeRawBufferPointer($0), in: transaction) }
      }
    }
    try byUUID.write { transaction in
      for movie in input.byUUID {
        try withUnsafeBytes(of: movie.uuid.uuid) { try byUUID.append(movie, $0, in: transaction) }
      }
    }
  }

  private func fetchAll(_ file: LMDBFile, _ watch: inout Stopwatch) throws -> Answer {
    let movies = try watch.measure {
      var movies: [Movie] = []
      try file.read { transaction in
        try file.scan(file.others, in: transaction) { _, value in
          guard let data = value.mv_data else { throw Failure("no movie") }
          movies.append(PackedMovie(data).movie())
        }
      }
      return movies
    }
    return Answer(movies)
  }

  func fetchAllByTitle(_ watch: inout Stopwatch) throws -> Answer { try fetchAll(byTitle, &watch) }

  func fetchAllByUUID(_ watch: inout Stopwatch) throws -> Answer { try fetchAll(byUUID, &watch) }

  func getByTitle(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for var title in input.titles {
        let movie = try title.withUTF8 { bytes in try byTitle.movie(of: UnsafeRawBufferPointer(bytes)) }
        if let movie { answer.addLightly(movie) }
      }
    }
    return answer
  }

  func getByUUID(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for uuid in input.uuids {
        if let movie = try withUnsafeBytes(of: uuid.uuid, byUUID.movie(of:)) { answer.addLightly(movie) }
      }
    }
    return answer
  }
}

extension LMDBFile {
  /// Appends a movie with a key of any bytes.
  fileprivate func append(
    _ movie: Movie, _ bytes: UnsafeRawBufferPointer, in transaction: OpaquePointer
  ) throws {
    var key = MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    var value = MDB_val(mv_size: PackedMovie.length(of: movie), mv_data: nil)
    try Self.check(mdb_put(transaction, others, &key, &value, UInt32(MDB_RESERVE | MDB_APPEND)))
    guard let place = value.mv_data else { throw Failure("LMDB reserved no space") }
    PackedMovie.pack(movie, into: place)
  }

  /// Returns the movie of a key of any bytes.
  @inline(__always)
  fileprivate func movie(of bytes: UnsafeRawBufferPointer) throws -> Movie? {
    try read { transaction in
      var key = MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      var value = MDB_val()
      let code = mdb_get(transaction, others, &key, &value)
      if code == MDB_NOTFOUND { return nil }
      try Self.check(code)
      guard let data = value.mv_data else { throw Failure("no movie") }
      return PackedMovie(data).movie()
    }
  }
}
