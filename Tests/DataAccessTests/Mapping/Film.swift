import DataAccess
import Foundation
import PersistenceCore

/// A domain value without persistence.
struct Film: Sendable, Equatable {
  var id = UUID()
  var title = ""
  var length = FilmLength(minutes: 0)
  var tags: [String] = []
  var year: Int?
  /// Not stored.
  var isSelected = false
}

struct FilmLength: Sendable, Equatable {
  var minutes: Int
}

/// The entity of a film.
struct StoredFilm: PersistentRecord, Equatable {
  let id: UUID
  let title: String
  let minutes: Int
  let tags: [String]
  let year: Int?
  let searchText: String

  static let schema = RecordSchema<StoredFilm>(
    "StoredFilm",
    fields: [
      .field("id", \.id), .field("title", \.title), .field("minutes", \.minutes), .field("tags", \.tags),
      .field("year", \.year), .field("searchText", \.searchText),
    ], key: [\.id])

  var primaryKey: UUID { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    minutes = try row.decode(at: 2)
    tags = try row.decode(at: 3)
    year = try row.decode(at: 4)
    searchText = try row.decode(at: 5)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(minutes, at: 2)
    try row.encode(tags, at: 3)
    row.encode(year, at: 4)
    row.encode(searchText, at: 5)
  }
}

extension Film {
  static let fields: [DomainField<Film>] = [
    .field("id", \.id), .field("title", \.title), .field("tags", \.tags), .field("year", \.year),
    .field("isSelected", \.isSelected), .value("length", \.length),
  ]

  static let rules: [MappingRule<Film, StoredFilm>] = [
    .convert(\.length, \.minutes, toEntity: { $0.minutes }, toDomain: { FilmLength(minutes: $0) }),
    .fill(\.searchText, from: { $0.title.lowercased() }),
    .leaveOut(\.isSelected),
  ]

  static func mapper() throws -> Mapper<Film, StoredFilm> {
    try Mapper(blank: Film(), fields: fields, rules: rules)
  }
}
