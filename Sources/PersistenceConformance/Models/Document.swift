import PersistenceCore

/// A record with one nested value and an optional second one.
struct Document<Value: Codable & Hashable & Sendable>: PersistentRecord {
  var id: Int
  var value: Value
  var maybe: Value?

  init(_ id: Int, _ value: Value, maybe: Value? = nil) {
    self.id = id
    self.value = value
    self.maybe = maybe
  }

  static var schema: RecordSchema<Document> {
    .shared(for: Document.self) {
      RecordSchema(
        "Document of \(Value.self)",
        fields: [.field("id", \.id), .field("value", \.value), .field("maybe", \.maybe)], key: [\.id])
    }
  }

  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    value = try row.decode(at: 1)
    maybe = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    try row.encode(value, at: 1)
    try row.encode(maybe, at: 2)
  }
}
