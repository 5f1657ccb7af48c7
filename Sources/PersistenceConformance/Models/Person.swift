package import Foundation
package import PersistenceCore

/// A record with a text key, unique, compound and plain indexes, and a document.
package struct Person: PersistentRecord, Hashable {
  package var id: String
  package var name = ""
  package var age: Int?
  package var score = 0.0
  package var height: Double?
  package var team = ""
  package var email: String?
  package var seat: Int?
  package var joined: Date?
  package var tags: [String] = []

  /// Creates a record without an email or a seat.
  package init(_ id: String) { self.id = id }

  package static let schema = RecordSchema<Person>(
    "Person",
    fields: [
      .field("id", \.id), .field("name", \.name), .field("age", \.age), .field("score", \.score),
      .field("height", \.height), .field("team", \.team), .field("email", \.email), .field("seat", \.seat),
      .field("joined", \.joined), .field("tags", \.tags),
    ], key: [\.id],
    indexes: [
      RecordIndex(\.age), RecordIndex(\.team, \.score), RecordIndex(\.email, isUnique: true),
      RecordIndex(\.team, \.seat, isUnique: true),
    ])

  package var primaryKey: String { id }

  package init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    name = try row.decode(at: 1)
    age = try row.decode(at: 2)
    score = try row.decode(at: 3)
    height = try row.decode(at: 4)
    team = try row.decode(at: 5)
    email = try row.decode(at: 6)
    seat = try row.decode(at: 7)
    joined = try row.decode(at: 8)
    tags = try row.decode(at: 9)
  }

  package func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(name, at: 1)
    row.encode(age, at: 2)
    row.encode(score, at: 3)
    row.encode(height, at: 4)
    row.encode(team, at: 5)
    row.encode(email, at: 6)
    row.encode(seat, at: 7)
    row.encode(joined, at: 8)
    try row.encode(tags, at: 9)
  }
}
