import Foundation
import PersistenceCore

// The expansion of @Persistent for these types, by hand, so that this package builds without swift-syntax.

extension Rating: PersistentValueConvertible {}

extension Movie: PersistentRecord {
  static let schema = RecordSchema<Movie>(
    "Movie",
    fields: [
      .field("id", \.id), .field("uuid", \.uuid), .field("title", \.title), .field("genre", \.genre),
      .field("budget", \.budget), .field("gross", \.gross), .field("rating", \.rating),
      .field("releasedAt", \.releasedAt), .field("votes", \.votes), .field("overview", \.overview),
    ], key: [\.id])

  var primaryKey: Int64 { id }

  init(from row: borrowing Row) throws {
    let id = try row.decode(\Self.id, at: 0)
    let uuid = try row.decode(\Self.uuid, at: 1)
    let title = try row.decode(\Self.title, at: 2)
    let genre = try row.decode(\Self.genre, at: 3)
    let budget = try row.decode(\Self.budget, at: 4)
    let gross = try row.decode(\Self.gross, at: 5)
    let rating = try row.decode(\Self.rating, at: 6)
    let releasedAt = try row.decode(\Self.releasedAt, at: 7)
    let votes = try row.decode(\Self.votes, at: 8)
    let overview = try row.decode(\Self.overview, at: 9)
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
}

/// The movie as a model with an index.
struct IndexedMovie: PersistentRecord {
  let movie: Movie

  static let schema = RecordSchema<IndexedMovie>(
    "IndexedMovie",
    fields: [
      .field("id", \.movie.id), .field("uuid", \.movie.uuid), .field("title", \.movie.title),
      .field("genre", \.movie.genre), .field("budget", \.movie.budget), .field("gross", \.movie.gross),
      .field("rating", \.movie.rating), .field("releasedAt", \.movie.releasedAt),
      .field("votes", \.movie.votes), .field("overview", \.movie.overview),
    ], key: [\.movie.id], indexes: [RecordIndex([\.movie.votes])])

  var primaryKey: Int64 { movie.id }

  init(_ movie: Movie) { self.movie = movie }

  init(from row: borrowing Row) throws { movie = try Movie(from: row) }

  func encode(into row: RowBuffer) throws { try movie.encode(into: row) }
}

/// The movie as a model with its title as the key.
struct TitledMovie: PersistentRecord {
  let movie: Movie

  static let schema = RecordSchema<TitledMovie>(
    "TitledMovie",
    fields: [
      .field("id", \.movie.id), .field("uuid", \.movie.uuid), .field("title", \.movie.title),
      .field("genre", \.movie.genre), .field("budget", \.movie.budget), .field("gross", \.movie.gross),
      .field("rating", \.movie.rating), .field("releasedAt", \.movie.releasedAt),
      .field("votes", \.movie.votes), .field("overview", \.movie.overview),
    ], key: [\.movie.title])

  var primaryKey: String { movie.title }

  init(_ movie: Movie) { self.movie = movie }

  init(from row: borrowing Row) throws { movie = try Movie(from: row) }

  func encode(into row: RowBuffer) throws { try movie.encode(into: row) }
}

/// The movie as a model with its UUID as the key.
struct UniqueMovie: PersistentRecord {
  let movie: Movie

  static let schema = RecordSchema<UniqueMovie>(
    "UniqueMovie",
    fields: [
      .field("id", \.movie.id), .field("uuid", \.movie.uuid), .field("title", \.movie.title),
      .field("genre", \.movie.genre), .field("budget", \.movie.budget), .field("gross", \.movie.gross),
      .field("rating", \.movie.rating), .field("releasedAt", \.movie.releasedAt),
      .field("votes", \.movie.votes), .field("overview", \.movie.overview),
    ], key: [\.movie.uuid])

  var primaryKey: UUID { movie.uuid }

  init(_ movie: Movie) { self.movie = movie }

  init(from row: borrowing Row) throws { movie = try Movie(from: row) }

  func encode(into row: RowBuffer) throws { try movie.encode(into: row) }
}
