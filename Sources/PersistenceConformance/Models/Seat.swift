package import Foundation
package import PersistenceCore

/// A record with a key of three fields, in another order than their declaration.
package struct Seat: PersistentRecord, Hashable {
  package var label = ""
  package var number: Int
  package var hall: UUID
  package var row: String

  /// The key: hall, row and number.
  package struct ID: PersistentKey {
    package var hall: UUID
    package var row: String
    package var number: Int
    package var keyValues: [PersistentValue] {
      [hall.persistentValue, row.persistentValue, number.persistentValue]
    }
    /// Creates a key.
    package init(hall: UUID, row: String, number: Int) {
      self.hall = hall
      self.row = row
      self.number = number
    }
  }

  /// Creates a seat.
  package init(hall: UUID, row: String, number: Int, label: String = "") {
    self.hall = hall
    self.row = row
    self.number = number
    self.label = label
  }

  package static let schema = RecordSchema<Seat>(
    "Seat",
    fields: [
      .field("label", \.label), .field("number", \.number), .field("hall", \.hall), .field("row", \.row),
    ], key: [\.hall, \.row, \.number], indexes: [RecordIndex(\.label)])

  package var primaryKey: ID { ID(hall: hall, row: row, number: number) }

  package init(from row: borrowing Row) throws {
    label = try row.decode(at: 0)
    number = try row.decode(at: 1)
    hall = try row.decode(at: 2)
    self.row = try row.decode(at: 3)
  }

  package func encode(into row: RowBuffer) throws {
    row.encode(label, at: 0)
    row.encode(number, at: 1)
    row.encode(hall, at: 2)
    row.encode(self.row, at: 3)
  }
}
