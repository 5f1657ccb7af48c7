import CRawLMDB
import Foundation

/// The simple approach: LMDB stores JSONEncoder's output, and a query decodes everything.
final class CodableLMDB {
  private let file: LMDBFile
  private let folder: Folder
  private let input: Input
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  init(_ folder: Folder, _ input: Input) throws {
    self.folder = folder
    self.input = input
    file = try LMDBFile(folder.path("codable"))
    try insert(into: file)
  }

  private func insert(into file: LMDBFile) throws {
    try file.write { transaction in
      for movie in input.movies {
        let data = try encoder.encode(movie)
        let place = try file.append(movie.id, count: data.count, in: transaction)
        data.copyBytes(to: UnsafeMutableRawBufferPointer(start: place, count: data.count))
      }
    }
  }

  private func movie(of value: MDB_val) throws -> Movie {
    guard let start = value.mv_data else { throw Failure("no movie") }
    let data = Data(bytesNoCopy: start, count: value.mv_size, deallocator: .none)
    return try decoder.decode(Movie.self, from: data)
  }

  private func all(in file: LMDBFile) throws -> [Movie] {
    var movies: [Movie] = []
    try file.read { transaction in
      try file.scan(file.movies, in: transaction) { _, value in movies.append(try movie(of: value)) }
    }
    return movies
  }

  func fetchAll(_ watch: inout Stopwatch) throws -> Answer {
    Answer(try watch.measure { try all(in: file) })
  }

  func getByKey(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for key in input.keys {
        let found = try file.read { transaction in
          try file.value(of: key, in: transaction).map { try movie(of: $0) }
        }
        if let found { answer.addLightly(found) }
      }
    }
    return answer
  }

  func selectByScan(_ watch: inout Stopwatch) throws -> Answer {
    let movies = try watch.measure {
      try all(in: file).filter { $0.votes >= Input.manyVotes }.sorted { $0.title < $1.title }
    }
    return Answer(movies)
  }

  func count(_ watch: inout Stopwatch) throws -> Answer {
    try watch.measure { Answer(count: try all(in: file).count { $0.votes >= Input.manyVotes }) }
  }

  func insertAll(_ watch: inout Stopwatch) throws -> Answer {
    let file = try LMDBFile(try folder.new("new").path)
    try watch.measure { try insert(into: file) }
    return Answer(try all(in: file))
  }
}
