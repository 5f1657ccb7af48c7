import Foundation
import GRDB

extension Rating: DatabaseValueConvertible {}

/// Reads and writes columns by hand, as GRDB's performance guide recommends: by position, dates as numbers.
extension Movie: FetchableRecord, PersistableRecord {
  static let databaseTableName = "movie"

  init(row: GRDB.Row) throws {
    self.init(
      id: row[0], uuid: row[1], title: row[2], genre: row[3], budget: row[4], gross: row[5], rating: row[6],
      releasedAt: Date(timeIntervalSinceReferenceDate: row[7]), votes: row[8], overview: row[9])
  }

  func encode(to container: inout PersistenceContainer) throws {
    container["id"] = id
    container["uuid"] = uuid
    container["title"] = title
    container["genre"] = genre
    container["budget"] = budget
    container["gross"] = gross
    container["rating"] = rating
    container["releasedAt"] = releasedAt.timeIntervalSinceReferenceDate
    container["votes"] = votes
    container["overview"] = overview
  }
}

/// The same movie with GRDB's Codable records.
struct CodableMovie: Codable, FetchableRecord, PersistableRecord, MovieRecord {
  static let databaseTableName = "movie"

  static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
    .timeIntervalSinceReferenceDate
  }

  static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
    .timeIntervalSinceReferenceDate
  }

  var id: Int64
  var uuid: UUID
  var title: String
  var genre: String
  var budget: Double
  var gross: Double?
  var rating: Rating
  var releasedAt: Date
  var votes: Int
  var overview: String

  init(_ movie: Movie) {
    id = movie.id
    uuid = movie.uuid
    title = movie.title
    genre = movie.genre
    budget = movie.budget
    gross = movie.gross
    rating = movie.rating
    releasedAt = movie.releasedAt
    votes = movie.votes
    overview = movie.overview
  }

  var movie: Movie {
    Movie(
      id: id, uuid: uuid, title: title, genre: genre, budget: budget, gross: gross, rating: rating,
      releasedAt: releasedAt, votes: votes, overview: overview)
  }
}

/// A GRDB record type for movies.
protocol MovieRecord {
  init(_ movie: Movie)
  var movie: Movie { get }
}

extension Movie: MovieRecord {
  init(_ movie: Movie) { self = movie }
  var movie: Movie { self }
}
