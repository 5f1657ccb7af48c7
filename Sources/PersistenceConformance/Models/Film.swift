import PersistenceCore

/// A record with a required and an optional reference.
struct Film: PersistentRecord, Hashable {
  var id: Int
  var title: String
  var studio: Reference<Studio>
  var director: Reference<Performer>?

  init(_ id: Int, _ title: String = "", studio: Int, director: String? = nil) {
    (self.id, self.title, self.studio) = (id, title, Reference(studio))
    self.director = director.map { Reference($0) }
  }

  static let schema = RecordSchema<Film>(
    "Film",
    fields: [
      .field("id", \.id), .field("title", \.title), .field("studio", \.studio),
      .field("director", \.director, onDelete: .setNil),
    ], key: [\.id])
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

/// A relation of many to many: its key consists of references.
struct Role: PersistentRecord, Hashable {
  var film: Reference<Film>
  var actor: Reference<Performer>
  var name = ""

  init(_ film: Int, _ actor: String, _ name: String = "") {
    (self.film, self.actor, self.name) = (Reference(film), Reference(actor), name)
  }

  struct Key: PersistentKey {
    var film: Reference<Film>
    var actor: Reference<Performer>
    var keyValues: [PersistentValue] { film.keyValues + actor.keyValues }
  }

  static let schema = RecordSchema<Role>(
    "Role",
    fields: [
      .field("film", \.film, onDelete: .cascade), .field("actor", \.actor), .field("name", \.name),
    ], key: [\.film, \.actor])
  var primaryKey: Key { Key(film: film, actor: actor) }

  init(from row: borrowing Row) throws {
    film = try row.decode(at: 0)
    actor = try row.decode(at: 1)
    name = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(film, at: 0)
    row.encode(actor, at: 1)
    row.encode(name, at: 2)
  }
}
