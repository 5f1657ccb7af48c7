package import Foundation
package import PersistenceCore
import SeededRandom

/// The ten-field movie as a record, written by hand so that this package needs no macros.
package struct Movie: PersistentRecord {
  package var id: Int64
  package var uuid: UUID
  package var title: String
  package var genre: String
  package var budget: Double
  package var gross: Double?
  package var rating: String
  package var releasedAt: Date
  package var votes: Int
  package var overview: String

  package static let schema = RecordSchema<Movie>(
    "Movie",
    fields: [
      .field("id", \.id), .field("uuid", \.uuid), .field("title", \.title), .field("genre", \.genre),
      .field("budget", \.budget), .field("gross", \.gross), .field("rating", \.rating),
      .field("releasedAt", \.releasedAt), .field("votes", \.votes), .field("overview", \.overview),
    ], key: [\.id], indexes: [RecordIndex([\.title])])

  package var primaryKey: Int64 { id }

  package init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    uuid = try row.decode(at: 1)
    title = try row.decode(at: 2)
    genre = try row.decode(at: 3)
    budget = try row.decode(at: 4)
    gross = try row.decode(at: 5)
    rating = try row.decode(at: 6)
    releasedAt = try row.decode(at: 7)
    votes = try row.decode(at: 8)
    overview = try row.decode(at: 9)
  }

  package func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(uuid, at: 1)
    row.encode(title, at: 2)
    row.encode(genre, at: 3)
    row.encode(budget, at: 4)
    row.encode(gross, at: 5)
    row.encode(rating, at: 6)
    row.encode(releasedAt, at: 7)
    row.encode(votes, at: 8)
    row.encode(overview, at: 9)
  }

  /// Makes a movie of its values.
  package init(
    id: Int64, uuid: UUID, title: String, genre: String, budget: Double, gross: Double?, rating: String,
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

  /// Returns the movie of a number, which is the same in every run.
  package init(number: Int) {
    var generator = SplitMix(state: UInt64(number))
    id = Int64(number)
    uuid = UUID(uuid: unsafeBitCast((generator.next(), generator.next()), to: uuid_t.self))
    let mark = String(generator.next() % 1_000_000_007, radix: 36)
    title = "Movie \(mark) ".padding(toLength: 20, withPad: "of the title ", startingAt: 0)
    genre = ["Drama", "Comedy", "Action", "Horror", "Musical"][Int(generator.next() % 5)]
    budget = Double(generator.next() % 300_000_000)
    gross = generator.next() % 4 == 0 ? nil : Double(generator.next() % 900_000_000)
    rating = ["G", "PG", "PG-13", "R", "NC-17"][Int(generator.next() % 5)]
    releasedAt = Date(timeIntervalSinceReferenceDate: Double(generator.next() % 700_000_000))
    votes = Int(generator.next() % 1_000_000)
    overview = String(repeating: "An overview of a movie. ", count: 5)
  }
}
