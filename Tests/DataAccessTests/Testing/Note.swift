import PersistenceCore

/// A small record for tests.
struct Note: PersistentRecord, Equatable {
  var id: Int
  var text: String
  var rank: Int

  static let schema = RecordSchema<Note>(
    "Note", fields: [.field("id", \.id), .field("text", \.text), .field("rank", \.rank)], key: [\.id])

  var primaryKey: Int { id }

  init(_ id: Int, _ text: String = "", rank: Int = 0) {
    self.id = id
    self.text = text
    self.rank = rank
  }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    text = try row.decode(at: 1)
    rank = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(text, at: 1)
    row.encode(rank, at: 2)
  }
}
