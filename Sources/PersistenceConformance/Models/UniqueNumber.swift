import PersistenceCore

/// A record with a unique number.
struct UniqueNumber: PersistentRecord, Hashable {
  var id: Int
  var number: Double?

  init(_ id: Int, number: Double?) {
    self.id = id
    self.number = number
  }

  static let schema = RecordSchema<UniqueNumber>(
    "UniqueNumber", fields: [.field("id", \.id), .field("number", \.number)], key: [\.id],
    indexes: [RecordIndex(\.number, isUnique: true)])

  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    number = try row.decode(at: 1)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(number, at: 1)
  }
}
