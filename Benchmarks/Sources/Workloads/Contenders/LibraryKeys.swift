import Foundation
import PersistenceCore

/// The movie in a model whose key is its title.
struct TitledMovie: PersistentRecord {
  let movie: Movie

  static let schema = RecordSchema<TitledMovie>(
    "TitledMovie",
    fields: [
      .field("id", \.movie.id), .field("uuid", \.movie.uuid), .field("title", \.movie.title),
      .field("genre", \.movie.genre), .field("budget", \.movie.budget), .field("gross", \.movie.gross),
      .field("rating", \.movie.rating), .field("releasedAt", \.movie.releasedAt),
      .field("votes", \.movie.votes), .field("overview", \.movie.overview),
    ], key: [\.movie.title])

  var primaryKey: String { movie.title }

  init(_ movie: Movie) { self.movie = movie }

  init(from row: borrowing Row) throws { movie = try Movie(from: row) }

  func encode(into row: RowBuffer) throws { try movie.encode(into: row) }
}

/// The movie in a model whose key is its UUID.
struct UniqueMovie: PersistentRecord {
  let movie: Movie

  static let schema = RecordSchema<UniqueMovie>(
    "UniqueMovie",
    fields: [
      .field("id", \.movie.id), .field("uuid", \.movie.uuid), .field("title", \.movie.title),
      .field("genre", \.movie.genre), .field("budget", \.movie.budget), .field("gross", \.movie.gross),
      .field("rating", \.movie.rating), .field("releasedAt", \.movie.releasedAt),
      .field("votes", \.movie.votes), .field("overview", \.movie.overview),
    ], key: [\.movie.uuid])

  var primaryKey: UUID { movie.uuid }

  init(_ movie: Movie) { self.movie = movie }

  init(from row: borrowing Row) throws { movie = try Movie(from: row) }

  func encode(into row: RowBuffer) throws { try movie.encode(into: row) }
}

/// Reading by keys that are no numbers.
extension Library {
  /// Stores the movies by their other keys, too.
  func fillByOtherKeys() throws {
    try repository.insert(contentsOf: input.byTitle.map(TitledMovie.init))
    try repository.insert(contentsOf: input.byUUID.map(UniqueMovie.init))
  }

  func fetchAllByTitle(_ watch: inout Stopwatch) throws -> Answer {
    let movies = try watch.measure { Array(try repository.filter(TitledMovie.self).result()) }
    return Answer(movies.lazy.map(\.movie))
  }

  func fetchAllByUUID(_ watch: inout Stopwatch) throws -> Answer {
    let movies = try watch.measure { Array(try repository.filter(UniqueMovie.self).result()) }
    return Answer(movies.lazy.map(\.movie))
  }

  func getByTitle(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for title in input.titles {
        if let found = try repository.find(TitledMovie.self, id: title) { answer.addLightly(found.movie) }
      }
    }
    return answer
  }

  func getByUUID(_ watch: inout Stopwatch) throws -> Answer {
    var answer = Answer()
    try watch.measure {
      for uuid in input.uuids {
        if let found = try repository.find(UniqueMovie.self, id: uuid) { answer.addLightly(found.movie) }
      }
    }
    return answer
  }
}
