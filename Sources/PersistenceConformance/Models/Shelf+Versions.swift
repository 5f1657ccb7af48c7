import PersistenceCore

extension Shelf {
  /// A later version with another fill for `rating` and one more field, which lacks most other fields.
  struct Later: Hashable {
    var id: Int
    var title: String
    var rating: Int
    var stars: Int
  }

  /// A unique field with a fill.
  struct Ranked: Hashable {
    var id: Int
    var rating: Int
  }

  /// A new field takes the earlier name of another one.
  struct Reused: Hashable {
    var id: Int
    var name: String
    var title: String
  }

  /// Wider kinds, and an optional title.
  struct Wide: Hashable {
    var id: Int
    var title: String?
    var pages: Int
    var price: Double
    var owner: String?
  }

  /// The owner is required.
  struct Owned: Hashable {
    var id: Int
    var title: String
    var owner: String
  }

  /// The owner is required, and unique.
  struct Claimed: Hashable {
    var id: Int
    var owner: String
  }

  /// Two fields are computed from the title and the pages; the title is not declared any more.
  struct Labeled: Hashable {
    var id: Int
    var pages: Int32
    var label: String
    var half: Double?
  }

  /// No owner.
  struct Ownerless: Hashable {
    var id: Int
    var title: String
    var pages: Int32
    var price: Float
  }

  /// The kinds of two fields and the optionality of another one differ, and one has no fill.
  struct Unlike: Hashable {
    var id: Int
    var title: Int
    var pages: Int16
    var owner: String
    var place: String
  }

  /// Another primary key.
  struct Rekeyed: Hashable {
    var id: Int
    var title: String
  }
}

/// A model that a step makes from owners of shelves.
struct ShelfOwner: Hashable {
  var name: String
  var shelves: Int
}

extension Shelf.Later: PersistentRecord {
  static let schema = RecordSchema<Shelf.Later>(
    "Shelf",
    fields: [
      .field("id", \.id), .field("title", \.title), .field("rating", \.rating, fill: 9),
      .field("stars", \.stars, fill: 5),
    ], key: [\.id])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws {
    (id, title) = (try row.decode(at: 0), try row.decode(at: 1))
    (rating, stars) = (try row.decode(at: 2), try row.decode(at: 3))
  }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(rating, at: 2)
    row.encode(stars, at: 3)
  }
}

extension Shelf.Ranked: PersistentRecord {
  static let schema = RecordSchema<Shelf.Ranked>(
    "Shelf", fields: [.field("id", \.id), .field("rating", \.rating, fill: 3)], key: [\.id],
    indexes: [RecordIndex(\.rating, isUnique: true)])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws { (id, rating) = (try row.decode(at: 0), try row.decode(at: 1)) }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(rating, at: 1)
  }
}

extension Shelf.Reused: PersistentRecord {
  static let schema = RecordSchema<Shelf.Reused>(
    "Shelf", fields: [.field("id", \.id), .field("name", \.name), .field("title", \.title, fill: "")],
    key: [\.id])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws {
    (id, name, title) = (try row.decode(at: 0), try row.decode(at: 1), try row.decode(at: 2))
  }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(name, at: 1)
    row.encode(title, at: 2)
  }
}

extension Shelf.Wide: PersistentRecord {
  static let schema = RecordSchema<Shelf.Wide>(
    "Shelf",
    fields: [
      .field("id", \.id), .field("title", \.title), .field("pages", \.pages), .field("price", \.price),
      .field("owner", \.owner),
    ], key: [\.id], indexes: [RecordIndex(\.title)])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws {
    (id, title) = (try row.decode(at: 0), try row.decode(at: 1))
    (pages, price) = (try row.decode(at: 2), try row.decode(at: 3))
    owner = try row.decode(at: 4)
  }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(pages, at: 2)
    row.encode(price, at: 3)
    row.encode(owner, at: 4)
  }

  init(_ first: Shelf.First) {
    self.init(
      id: first.id, title: first.title, pages: Int(first.pages), price: Double(first.price),
      owner: first.owner)
  }
}

extension Shelf.Owned: PersistentRecord {
  static let schema = RecordSchema<Shelf.Owned>(
    "Shelf", fields: [.field("id", \.id), .field("title", \.title), .field("owner", \.owner)], key: [\.id])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws {
    (id, title, owner) = (try row.decode(at: 0), try row.decode(at: 1), try row.decode(at: 2))
  }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(owner, at: 2)
  }
}

extension Shelf.Claimed: PersistentRecord {
  static let schema = RecordSchema<Shelf.Claimed>(
    "Shelf", fields: [.field("id", \.id), .field("owner", \.owner)], key: [\.id],
    indexes: [RecordIndex(\.owner, isUnique: true)])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws { (id, owner) = (try row.decode(at: 0), try row.decode(at: 1)) }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(owner, at: 1)
  }
}

extension Shelf.Labeled: PersistentRecord {
  static let schema = RecordSchema<Shelf.Labeled>(
    "Shelf",
    fields: [
      .field("id", \.id), .field("pages", \.pages), .field("label", \.label), .field("half", \.half),
    ], key: [\.id])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws {
    (id, pages) = (try row.decode(at: 0), try row.decode(at: 1))
    (label, half) = (try row.decode(at: 2), try row.decode(at: 3))
  }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(pages, at: 1)
    row.encode(label, at: 2)
    row.encode(half, at: 3)
  }
}

extension Shelf.Ownerless: PersistentRecord {
  static let schema = RecordSchema<Shelf.Ownerless>(
    "Shelf",
    fields: [
      .field("id", \.id), .field("title", \.title), .field("pages", \.pages), .field("price", \.price),
    ], key: [\.id])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws {
    (id, title) = (try row.decode(at: 0), try row.decode(at: 1))
    (pages, price) = (try row.decode(at: 2), try row.decode(at: 3))
  }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(pages, at: 2)
    row.encode(price, at: 3)
  }
}

extension Shelf.Unlike: PersistentRecord {
  static let schema = RecordSchema<Shelf.Unlike>(
    "Shelf",
    fields: [
      .field("id", \.id), .field("title", \.title), .field("pages", \.pages), .field("owner", \.owner),
      .field("place", \.place),
    ], key: [\.id])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws {
    (id, title, pages) = (try row.decode(at: 0), try row.decode(at: 1), try row.decode(at: 2))
    (owner, place) = (try row.decode(at: 3), try row.decode(at: 4))
  }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(pages, at: 2)
    row.encode(owner, at: 3)
    row.encode(place, at: 4)
  }
}

extension Shelf.Rekeyed: PersistentRecord {
  static let schema = RecordSchema<Shelf.Rekeyed>(
    "Shelf", fields: [.field("id", \.id), .field("title", \.title)], key: [\.title])
  var primaryKey: String { title }
  init(from row: borrowing Row) throws { (id, title) = (try row.decode(at: 0), try row.decode(at: 1)) }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
  }
}

extension ShelfOwner: PersistentRecord {
  static let schema = RecordSchema<ShelfOwner>(
    "ShelfOwner", fields: [.field("name", \.name), .field("shelves", \.shelves)], key: [\.name])
  var primaryKey: String { name }
  init(from row: borrowing Row) throws { (name, shelves) = (try row.decode(at: 0), try row.decode(at: 1)) }
  func encode(into row: RowBuffer) throws {
    row.encode(name, at: 0)
    row.encode(shelves, at: 1)
  }
}
