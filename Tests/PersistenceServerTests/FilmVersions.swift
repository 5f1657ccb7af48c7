import PersistenceCore

/// The film of an older version, which does not have `budget` and `day` yet.
struct TitledFilm: PersistentRecord, Equatable {
  var id: Int
  var title: String

  static let schema = RecordSchema<TitledFilm>(
    "Film", fields: [.field("id", \.id), .field("title", \.title)], key: [\.id])
  var primaryKey: Int { id }

  init(_ id: Int, _ title: String) { (self.id, self.title) = (id, title) }
  init(from row: borrowing Row) throws { (id, title) = (try row.decode(at: 0), try row.decode(at: 1)) }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
  }
}

/// The film of a newer version, with an optional field, a field with a fill, and an index.
struct RatedFilm: PersistentRecord, Equatable {
  var id: Int
  var title: String
  var rating: String
  var note: String?

  static let schema = RecordSchema<RatedFilm>(
    "Film",
    fields: [
      .field("id", \.id), .field("title", \.title), .field("rating", \.rating, fill: "PG"),
      .field("note", \.note),
    ], key: [\.id], indexes: [RecordIndex(\.rating)])
  var primaryKey: Int { id }

  init(_ id: Int, _ title: String, rating: String = "PG", note: String? = nil) {
    (self.id, self.title, self.rating, self.note) = (id, title, rating, note)
  }
  init(from row: borrowing Row) throws {
    (id, title) = (try row.decode(at: 0), try row.decode(at: 1))
    (rating, note) = (try row.decode(at: 2), try row.decode(at: 3))
  }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(rating, at: 2)
    row.encode(note, at: 3)
  }
}

/// The film of a newer version, in which the model and the title have other names.
struct Picture: PersistentRecord, Equatable {
  var id: Int
  var name: String

  static let schema = RecordSchema<Picture>(
    "Picture", was: ["Film"],
    fields: [.field("id", \.id), .field("name", \.name, was: ["title"])], key: [\.id])
  var primaryKey: Int { id }

  init(_ id: Int, _ name: String) { (self.id, self.name) = (id, name) }
  init(from row: borrowing Row) throws { (id, name) = (try row.decode(at: 0), try row.decode(at: 1)) }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(name, at: 1)
  }
}

/// A film whose budget is required.
struct StrictFilm: PersistentRecord, Equatable {
  var id: Int
  var budget: Double

  static let schema = RecordSchema<StrictFilm>(
    "Film", fields: [.field("id", \.id), .field("budget", \.budget)], key: [\.id])
  var primaryKey: Int { id }

  init(from row: borrowing Row) throws { (id, budget) = (try row.decode(at: 0), try row.decode(at: 1)) }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(budget, at: 1)
  }
}

enum RatedFilms: StoreSchema {
  static let models: [any PersistentRecord.Type] = [RatedFilm.self]
}

enum Pictures: StoreSchema {
  static let models: [any PersistentRecord.Type] = [Picture.self]
}

enum BudgetlessFilms: StoreSchema {
  static let models: [any PersistentRecord.Type] = [TitledFilm.self]
  static let evolution: [EvolutionRule] = [.remove("budget", from: "Film")]
}
