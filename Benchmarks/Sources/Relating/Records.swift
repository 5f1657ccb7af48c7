import Foundation
import PersistenceCore

/// A record that others refer to.
struct Studio: PersistentRecord {
  var id: Int
  var name: String
  var country: Int

  static let schema = RecordSchema<Studio>(
    "Studio", fields: [.field("id", \.id), .field("name", \.name), .field("country", \.country)], key: [\.id])
  var primaryKey: Int { id }

  /// The studio of a number; the numbers of a country are apart.
  init(number: Int) { (id, name, country) = (number, "studio number \(number)", number % 100) }

  init(id: Int, name: String, country: Int) { (self.id, self.name, self.country) = (id, name, country) }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    name = try row.decode(at: 1)
    country = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(name, at: 1)
    row.encode(country, at: 2)
  }
}

/// A record with a reference.
struct Film: PersistentRecord {
  var id: Int
  var title: String
  var votes: Int
  var studio: Reference<Studio>

  static let schema = RecordSchema<Film>(
    "Film",
    fields: [
      .field("id", \.id), .field("title", \.title), .field("votes", \.votes),
      .field("studio", \.studio, onDelete: .cascade),
    ], key: [\.id])
  var primaryKey: Int { id }

  /// The film of a number; the films of a studio are apart.
  init(number: Int, studios: Int) {
    self.init(
      id: number, title: "film number \(number)", votes: number * 7919 % 100_003, studio: number % studios)
  }

  /// The film of a number, if few studios make most films.
  ///
  /// A studio makes films in inverse proportion to its rank (Zipf's law). In real lists of movies, a thousand have 100
  /// distributors and 400 directors; here they have about 300 studios.
  init(number: Int, ranked studios: Int) {
    let spread = Double(number * 7919 % 100_003) / 100_003
    self.init(number: number, studios: studios)
    studio = Reference(Int(pow(Double(studios), spread)) - 1)
  }

  init(id: Int, title: String, votes: Int, studio: Int) {
    (self.id, self.title, self.votes, self.studio) = (id, title, votes, Reference(studio))
  }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    votes = try row.decode(at: 2)
    studio = try row.decode(at: 3)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(votes, at: 2)
    row.encode(studio, at: 3)
  }
}
