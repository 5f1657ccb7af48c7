import Foundation
import Persistence

/// The model of the API examples, word for word.
@Persistent
struct Movie: Hashable {
  var id: UUID  // the primary key; or @ID on another property
  var title: String
  @Indexed var rating: Rating?
  @Indexed var budget: Double
  @Unique var imdbID: String?
  var releasedAt: Date?
  var cast: [String] = []  // Codable values are stored as one document
}

/// The rating of the API examples.
enum Rating: String, PersistentValueConvertible {
  case g = "G", pg = "PG", pg13 = "PG-13", r = "R", nc17 = "NC-17"
}
