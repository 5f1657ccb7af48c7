import Foundation
import PersistenceCore

/// A record with a key of three fields, which the schema declares in another order.
struct Seat: Hashable {
  var hall: UUID
  var row: String
  var number: Int
  var label = ""

  struct ID: PersistentKey {
    var hall: UUID
    var row: String
    var number: Int
    var keyValues: [PersistentValue] { [hall.persistentValue, row.persistentValue, number.persistentValue] }
  }
}

extension Seat: PersistentRecord {
  static let schema = RecordSchema<Seat>(
    "Seat",
    fields: [
      .field("label", \.label), .field("number", \.number), .field("hall", \.hall), .field("row", \.row),
    ], key: [\.hall, \.row, \.number], indexes: [RecordIndex(\.label)])

  var primaryKey: ID { ID(hall: hall, row: row, number: number) }

  init(from row: borrowing Row) throws {
    label = try row.decode(at: 0)
    number = try row.decode(at: 1)
    hall = try row.decode(at: 2)
    self.row = try row.decode(at: 3)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(label, at: 0)
    row.encode(number, at: 1)
    row.encode(hall, at: 2)
    row.encode(self.row, at: 3)
  }
}
