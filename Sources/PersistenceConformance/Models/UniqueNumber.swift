package import PersistenceCore

/// A record with a unique number.
package struct UniqueNumber: PersistentRecord, Hashable {
  package var id: Int
  package var number: Double?

  /// Creates a record.
  package init(_ id: Int, number: Double?) {
    self.id = id
    self.number = number
  }

  package static let schema = RecordSchema<UniqueNumber>(
    "UniqueNumber", fields: [.field("id", \.id), .field("number", \.number)], key: [\.id],
    indexes: [RecordIndex(\.number, isUnique: true)])

  package var primaryKey: Int { id }

  package init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    number = try row.decode(at: 1)
  }

  package func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(number, at: 1)
  }
}
