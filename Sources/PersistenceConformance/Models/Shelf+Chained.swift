import PersistenceCore

extension Shelf {
  /// Every field but the key is computed, some from each other, and declared before its sources.
  struct Chained: Hashable {
    var id: Int
    var summary: String
    var label: String
    var half: Double?
  }

  /// `title` has become `name`, and another field is computed from it.
  struct Tagged: Hashable {
    var id: Int
    var tag: String
    var name: String
  }
}

extension Shelf.Chained: PersistentRecord {
  static let schema = RecordSchema<Shelf.Chained>(
    "Shelf",
    fields: [
      .field("id", \.id), .field("summary", \.summary), .field("label", \.label), .field("half", \.half),
    ], key: [\.id], indexes: [RecordIndex(\.summary)])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws {
    (id, summary) = (try row.decode(at: 0), try row.decode(at: 1))
    (label, half) = (try row.decode(at: 2), try row.decode(at: 3))
  }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(summary, at: 1)
    row.encode(label, at: 2)
    row.encode(half, at: 3)
  }

  init(_ first: Shelf.First) {
    let half = first.pages > 3000 ? Double(first.pages) / 2 : nil
    let label = "\(first.title): \(first.pages)"
    self.init(id: first.id, summary: Self.summary(label, half), label: label, half: half)
  }

  static func summary(_ label: String, _ half: Double?) -> String {
    "\(label) (\(half.map { "\($0)" } ?? "short"))"
  }
}

extension Shelf.Tagged: PersistentRecord {
  static let schema = RecordSchema<Shelf.Tagged>(
    "Shelf",
    fields: [.field("id", \.id), .field("tag", \.tag), .field("name", \.name, was: ["title"])], key: [\.id])
  var primaryKey: Int { id }
  init(from row: borrowing Row) throws {
    (id, tag, name) = (try row.decode(at: 0), try row.decode(at: 1), try row.decode(at: 2))
  }
  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(tag, at: 1)
    row.encode(name, at: 2)
  }

  init(_ first: Shelf.First) {
    self.init(id: first.id, tag: Self.tag(first.title), name: first.title)
  }

  static func tag(_ title: String) -> String { "#\(title)" }
}
