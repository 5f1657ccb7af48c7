import Foundation
import PersistenceCore

/// A record with nested values of which conditions use parts, and with raw-representable `Codable` values.
struct Venue: PersistentRecord, Hashable {
  /// A nested value, one of whose members has another name in JSON.
  struct Place: Codable, Hashable, Sendable {
    struct Point: Codable, Hashable, Sendable {
      var latitude = 0.0
      var label: String?
    }

    var city = ""
    var number = 0
    var isOpen = false
    var since = Date(timeIntervalSinceReferenceDate: 0)
    var key: UUID?
    var halls: [String] = []
    var point = Point()
    var nickname: String?

    enum CodingKeys: String, CodingKey {
      case city = "town"
      case number, isOpen, since, key, halls, point, nickname
    }

    /// A value that is not in the JSON.
    var doubled: Int { number * 2 }
  }

  enum Level: String, Codable, Hashable, Sendable { case low = "a", middle = "b", high = "c" }
  enum Rank: Int, Codable, Hashable, Sendable { case first = 1, second, tenth = 10 }

  var id: Int
  var place = Place()
  var maybe: Place?
  var tags: [String] = []
  var scores: Set<Int>?
  var level = Level.low
  var rank: Rank?
  var title = ""

  init(_ id: Int) { self.id = id }

  static let schema = RecordSchema<Venue>(
    "Venue",
    fields: [
      .field("id", \.id), .field("location", \.place), .field("maybe", \.maybe), .field("tags", \.tags),
      .field("scores", \.scores), .field("level", \.level), .field("rank", \.rank), .field("title", \.title),
    ], key: [\.id],
    indexes: [RecordIndex(.property(\.level), .property(\.title)), RecordIndex(.property(\.rank))])

  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(\Self.id, at: 0)
    place = try row.decode(\Self.place, at: 1)
    maybe = try row.decode(\Self.maybe, at: 2)
    tags = try row.decode(\Self.tags, at: 3)
    scores = try row.decode(\Self.scores, at: 4)
    level = try row.decode(\Self.level, at: 5)
    rank = try row.decode(\Self.rank, at: 6)
    title = try row.decode(\Self.title, at: 7)
  }

  func encode(into row: RowBuffer) throws {
    try row.store(id, at: 0)
    try row.store(place, at: 1)
    try row.store(maybe, at: 2)
    try row.store(tags, at: 3)
    try row.store(scores, at: 4)
    try row.store(level, at: 5)
    try row.store(rank, at: 6)
    try row.store(title, at: 7)
  }
}
