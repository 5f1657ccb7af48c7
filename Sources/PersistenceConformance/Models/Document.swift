package import PersistenceCore

/// A record with one nested value and an optional second one.
package struct Document<Value: Codable & Hashable & Sendable>: PersistentRecord {
  package var id: Int
  package var value: Value
  package var maybe: Value?

  /// Creates a record.
  package init(_ id: Int, _ value: Value, maybe: Value? = nil) {
    self.id = id
    self.value = value
    self.maybe = maybe
  }

  package static var schema: RecordSchema<Document> {
    .shared(for: Document.self) {
      RecordSchema(
        "Document of \(Value.self)",
        fields: [.field("id", \.id), .field("value", \.value), .field("maybe", \.maybe)], key: [\.id])
    }
  }

  package var primaryKey: Int { id }

  package init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    value = try row.decode(at: 1)
    maybe = try row.decode(at: 2)
  }

  package func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    try row.encode(value, at: 1)
    try row.encode(maybe, at: 2)
  }
}
