import Foundation
import SeededRandom

/// The ten-field movie of the benchmarks, the same for all contenders.
struct Movie: Codable, Hashable, Sendable {
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

  /// Returns the movie of a number, which is the same in every run.
  init(number: Int) {
    var generator = SplitMix(state: UInt64(number))
    id = Int64(number)
    uuid = UUID(uuid: unsafeBitCast((generator.next(), generator.next()), to: uuid_t.self))
    let mark = String(generator.next() % 1_000_000_007, radix: 36)
    title = "\(mark) is a movie's title".padding(toLength: 20, withPad: " ", startingAt: 0)
    genre = ["Drama", "Comedy", "Action", "Horror", "Musical"][Int(generator.next() % 5)]
    budget = Double(generator.next() % 300_000_000)
    gross = generator.next() % 4 == 0 ? nil : Double(generator.next() % 900_000_000)
    rating = Rating.allCases[Int(generator.next() % 5)]
    releasedAt = Date(timeIntervalSinceReferenceDate: Double(generator.next() % 700_000_000))
    votes = Int(generator.next() % 1_000_000)
    overview = String(repeating: "An overview of a movie. ", count: 5)
  }

  init(
    id: Int64, uuid: UUID, title: String, genre: String, budget: Double, gross: Double?, rating: Rating,
    releasedAt: Date, votes: Int, overview: String
  ) {
    self.id = id
    self.uuid = uuid
    self.title = title
    self.genre = genre
    self.budget = budget
    self.gross = gross
    self.rating = rating
    self.releasedAt = releasedAt
    self.votes = votes
    self.overview = overview
  }
}

/// The rating of a movie.
enum Rating: String, Codable, CaseIterable, Sendable {
  case g = "G"
  case pg = "PG"
  case pg13 = "PG-13"
  case r = "R"
  case nc17 = "NC-17"
}
