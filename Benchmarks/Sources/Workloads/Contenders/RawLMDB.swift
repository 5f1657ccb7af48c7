import CRawLMDB
import Foundation

/// LMDB's C API, used efficiently: packed rows, read in place, appended into reserved buffers.
final class RawLMDB {
  let file: LMDBFile
  private let folder: Folder
  let input: Input

  init(_ folder: Folder, _ input: Input) throws {
    self.folder = folder
    self.input = input
    file = try LMDBFile(folder.path("raw"))
    try Self.insert(input.movies, into: file, indexed: true)
    try Self.insert(input.singles, into: try LMDBFile(folder.path("opened")), indexed: false)
  }

  private static func insert(_ movies: [Movie], into file: LMDBFile, indexed: Bool) throws {
    try file.write { transaction in
      for movie in movies {
        let place = try file.append(movie.id, count: PackedMovie.length(of: movie), in: transaction)
        PackedMovie.pack(movie, into: place)
        if indexed { try file.index(movie.votes, movie.id, in: transaction) }
      }
    }
  }

  @inline(__always)
  static func movie(of value: MDB_val) throws -> PackedMovie {
    guard let data = value.mv_data else { throw Failure("no movie") }
    return PackedMovie(data)
  }

  /// Sorts references to the rows, and copies the requested ones.
  private func sorted(_ found: [PackedMovie]) -> [Movie] {
    let order = found.sorted { left, right in
      let (first, second) = (left.title, right.title)
      guard let one = first.baseAddress, let other = second.baseAddress else { return false }
      let difference = memcmp(one, other, min(first.count, second.count))
      return difference == 0 ? first.count < second.count : difference < 0
    }
    return order.map { $0.movie() }
  }

  private func insertAll(indexed: Bool, _ watch: inout Stopwatch) throws -> Answer {
    let file = try LMDBFile(try folder.new("new").path)
    try watch.measure { try Self.insert(input.movies, into: file, indexed: indexed) }
    var answer = Answer()
    try file.read { transaction in
      try file.scan(file.movies, in: transaction) { _, value in answer.add(try Self.movie(of: value).movie())
      }
    }
    return answer
  }
}

/// The workloads.
extension RawLMDB {
  func fetchAll(_ watch: inout Stopwatch) throws -> Answer {
    let movies = try watch.measure {
      var movies: [Movie] = []
      try file.read { transaction in
        try file.scan(file.movies, in: transaction) { _, value in
          movies.append(try Self.movie(of: value).movie())
        }
      }
      return movies
    }
    return Answer(movies)
  }

  func getByKey(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for key in input.keys {
        let value = try file.read { transaction in
          try file.value(of: key, in: transaction).map { try Self.movie(of: $0).movie() }
        }
        if let value { answer.addLightly(value) }
      }
    }
    return answer
  }

  func selectByScan(_ watch: inout Stopwatch) throws -> Answer {
    let movies = try watch.measure {
      try file.read { transaction in
        var found: [PackedMovie] = []
        try file.scan(file.movies, in: transaction) { _, value in
          let movie = try Self.movie(of: value)
          if movie.votes >= Input.manyVotes { found.append(movie) }
        }
        return sorted(found)
      }
    }
    return Answer(movies)
  }

  func selectByIndex(_ watch: inout Stopwatch) throws -> Answer {
    let movies = try watch.measure {
      try file.read { transaction in
        var found: [PackedMovie] = []
        try withUnsafeBytes(of: UInt64(Input.manyVotes).bigEndian) { first in
          try file.scan(file.votes, from: first, in: transaction) { key, _ in
            let id = key.mv_data.loadUnaligned(fromByteOffset: 8, as: Int64.self).byteSwapped
            guard let value = try file.value(of: id, in: transaction) else { throw Failure("no movie") }
            found.append(try Self.movie(of: value))
          }
        }
        return sorted(found)
      }
    }
    return Answer(movies)
  }

  func count(_ watch: inout Stopwatch) throws -> Answer {
    try watch.measure {
      try file.read { transaction in
        var count = 0
        try file.scan(file.movies, in: transaction) { _, value in
          if try Self.movie(of: value).votes >= Input.manyVotes { count += 1 }
        }
        return Answer(count: count)
      }
    }
  }

  func insertAll(_ watch: inout Stopwatch) throws -> Answer { try insertAll(indexed: false, &watch) }

  func insertAllIndexed(_ watch: inout Stopwatch) throws -> Answer { try insertAll(indexed: true, &watch) }

  func open(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    for movie in input.singles.prefix(Library.openings) {
      let (found, other) = try watch.measure {
        let other = try LMDBFile(folder.path("opened"))
        let found = try other.read { transaction in
          try other.value(of: movie.id, in: transaction).map { try Self.movie(of: $0).movie() }
        }
        return (found, other)
      }
      if let found { answer.add(found) }
      withExtendedLifetime(other) {}
    }
    return answer
  }
}
