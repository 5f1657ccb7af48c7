import PersistenceCore

/// A record with two field names that Swift strings treat as equal.
struct Twins: PersistentRecord, Equatable {
  var id: Int
  var composed: String
  var decomposed: String

  static let schema = RecordSchema<Twins>(
    "Twins",
    fields: [
      .field("id", \.id), .field("\u{E9}", \.composed), .field("e\u{301}", \.decomposed),
    ], key: [\.id])
  var primaryKey: Int { id }

  init(id: Int, composed: String, decomposed: String) {
    (self.id, self.composed, self.decomposed) = (id, composed, decomposed)
  }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    composed = try row.decode(at: 1)
    decomposed = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(composed, at: 1)
    row.encode(decomposed, at: 2)
  }
}
