import Foundation
import Persistence

/// A movie, for any engine.
@Persistent
struct Movie: Hashable {
  var id: String
  @Indexed var title: String
  @Indexed var year: Int
  var rating: Rating?
  var minutes: Int
  var budget: Double?
  var releasedAt: Date?
  var directors: [String]
  var genre: String
}

/// An evening with a movie.
@Persistent
struct Viewing: Hashable {
  var id: UUID
  @OnDelete(.cascade) var movie: Reference<Movie>
  var stars: Int
}

/// The rating of the Motion Picture Association.
enum Rating: String, PersistentValueConvertible {
  case everybody = "G"
  case parentalGuidance = "PG"
  case thirteen = "PG-13"
  case restricted = "R"
}
