import Foundation
import PersistenceCore
import SeededRandom

/// The ten-field movie of the benchmarks, written by hand so that this package needs no macros.
struct Movie: PersistentRecord {
  var id: Int64
  var uuid: UUID
  var title: String
  var genre: String
  var budget: Double
  var gross: Double?
  var rating: String
  var releasedAt: Date
  var votes: Int
  var overview: String

  static let schema = RecordSchema<Movie>(
    "Movie",
    fields: [
      .field("id", \.id), .field("uuid", \.uuid), .field("title", \.title), .field("genre", \.genre),
      .field("budget", \.budget), .field("gross", \.gross), .field("rating", \.rating),
      .field("releasedAt", \.releasedAt), .field("votes", \.votes), .field("overview", \.overview),
    ], key: [\.id], indexes: [RecordIndex([\.title])])

  var primaryKey: Int64 { id }

  init(from row: borrowing Row) throws {
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

  func encode(into row: RowBuffer) throws {
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

  /// Returns the movie of a number, which is the same in every run.
  init(number: Int) {
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
