package import PersistenceCore

/// An account that money is transferred between, which reveals lost updates and inconsistent snapshots.
package struct Account: PersistentRecord, Hashable {
  package var id: Int
  package var balance: Int
  package var transfers: Int
  package var note: String

  package init(_ id: Int, balance: Int, transfers: Int = 0, note: String = "") {
    self.id = id
    self.balance = balance
    self.transfers = transfers
    self.note = note
  }

  package static let schema = RecordSchema<Account>(
    "Account",
    fields: [
      .field("id", \.id), .field("balance", \.balance), .field("transfers", \.transfers),
      .field("note", \.note),
    ], key: [\.id], indexes: [RecordIndex(\.balance)])

  package var primaryKey: Int { id }

  package init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    balance = try row.decode(at: 1)
    transfers = try row.decode(at: 2)
    note = try row.decode(at: 3)
  }

  package func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(balance, at: 1)
    row.encode(transfers, at: 2)
    row.encode(note, at: 3)
  }
}
