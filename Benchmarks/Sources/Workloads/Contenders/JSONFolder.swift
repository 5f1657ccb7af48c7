import Foundation

/// A folder of movies as JSON files, written and read by Foundation.
final class JSONFolder {
  private let folder: Folder
  private let input: Input
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  init(_ folder: Folder, _ input: Input) throws {
    self.folder = folder
    self.input = input
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    for movie in input.movies { try encoder.encode(movie).write(to: url(movie.id, in: folder.path)) }
  }

  /// The folder of the files.
  var path: String { folder.path }

  private func url(_ id: Int64, in path: String) -> URL {
    URL(fileURLWithPath: "\(path)/\(JSONFolder.name(of: id))", isDirectory: false)
  }

  /// Returns the name of a movie's file.
  static func name(of id: Int64) -> String { "\(id).json" }

  private func movie(_ name: String, in path: String) throws -> Movie {
    try decoder.decode(Movie.self, from: try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
  }

  /// Returns the movies in a folder, in key order.
  func all(in path: String) throws -> [Movie] {
    try FileManager.default.contentsOfDirectory(atPath: path).map { try movie($0, in: path) }
      .sorted { $0.id < $1.id }
  }

  /// Returns the bytes of a movie's file.
  func bytes(of movie: Movie) throws -> Data { try encoder.encode(movie) }

  func fetchAll(_ watch: inout Stopwatch) throws -> Answer {
    Answer(try watch.measure { try all(in: folder.path) })
  }

  func getByKey(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for key in input.keys { answer.addLightly(try movie(JSONFolder.name(of: key), in: folder.path)) }
    }
    return answer
  }

  func insertSinglesTogether(_ watch: inout Stopwatch, in folder: Folder) throws -> Answer {
    let new = try folder.new("new-by-foundation")
    try watch.measure {
      for movie in input.singles {
        try encoder.encode(movie).write(to: url(movie.id, in: new.path), options: .atomic)
      }
    }
    return Answer(try all(in: new.path))
  }
}
