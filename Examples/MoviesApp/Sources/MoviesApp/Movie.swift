import Foundation
import Persistence

/// A movie, as every engine keeps it.
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

/// Who may see a movie, as the Motion Picture Association says.
enum Rating: String, PersistentValueConvertible {
  case everybody = "G"
  case parentalGuidance = "PG"
  case thirteen = "PG-13"
  case restricted = "R"
}
