import PersistenceCore

// Models that refer to each other, for the rules of relations. The macro would generate what they write by hand.

/// A target of restricting references.
struct Studio: PersistentRecord, Hashable {
  var id: Int
  var name = ""
  var parent: Reference<Studio>?

  init(_ id: Int, _ name: String = "", parent: Int? = nil) {
    (self.id, self.name, self.parent) = (id, name, parent.map { Reference($0) })
  }

  static let schema = RecordSchema<Studio>(
    "Studio",
    fields: [
      .field("id", \.id), .field("name", \.name), .field("parent", \.parent, onDelete: .cascade),
    ], key: [\.id])
  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    name = try row.decode(at: 1)
    parent = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(name, at: 1)
    row.encode(parent, at: 2)
  }
}

/// A target of references that become nil, and of keys.
struct Performer: PersistentRecord, Hashable {
  var id: String
  var age = 0

  init(_ id: String, age: Int = 0) { (self.id, self.age) = (id, age) }

  static let schema = RecordSchema<Performer>(
    "Performer", fields: [.field("id", \.id), .field("age", \.age)], key: [\.id])
  var primaryKey: String { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    age = try row.decode(at: 1)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(age, at: 1)
  }
}

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

/// A record that refers to another of its kind, and must.
struct Twin: PersistentRecord, Hashable {
  var id: Int
  var other: Reference<Twin>

  init(_ id: Int, _ other: Int) { (self.id, self.other) = (id, Reference(other)) }

  static let schema = RecordSchema<Twin>(
    "Twin", fields: [.field("id", \.id), .field("other", \.other)], key: [\.id])
  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    other = try row.decode(at: 1)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(other, at: 1)
  }
}
