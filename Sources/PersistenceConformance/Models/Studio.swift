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
