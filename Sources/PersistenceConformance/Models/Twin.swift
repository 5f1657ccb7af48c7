import PersistenceCore

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
