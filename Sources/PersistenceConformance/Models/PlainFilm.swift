import PersistenceCore

/// The declaration of ``Film`` in a version of the app that had no references yet.
struct PlainFilm: PersistentRecord {
  var id: Int
  var title = ""
  var studio: Int
  var director: String?

  init(_ id: Int, studio: Int) { (self.id, self.studio) = (id, studio) }

  static let schema = RecordSchema<PlainFilm>(
    "Film",
    fields: [
      .field("id", \.id), .field("title", \.title), .field("studio", \.studio),
      .field("director", \.director),
    ], key: [\.id], indexes: [RecordIndex(\.studio), RecordIndex(\.director)])
  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    studio = try row.decode(at: 2)
    director = try row.decode(at: 3)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(studio, at: 2)
    row.encode(director, at: 3)
  }
}
