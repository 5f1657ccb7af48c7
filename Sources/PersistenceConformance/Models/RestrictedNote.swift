import PersistenceCore

/// A context that has only a name and stores nothing.
final class AnotherContext: PersistentContext {}

/// A record restricted to a context that is never under test (contract E1).
struct RestrictedNote: PersistentRecord, Hashable {
  var id: Int
  var text = ""

  init(_ id: Int) { self.id = id }

  static let supportedContexts = SupportedContexts.only(AnotherContext.self)

  static let schema = RecordSchema<RestrictedNote>(
    "RestrictedNote", fields: [.field("id", \.id), .field("text", \.text)], key: [\.id])

  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    text = try row.decode(at: 1)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(text, at: 1)
  }
}

/// A record that refers to one that no context under test supports (contract L10).
struct Memo: PersistentRecord {
  var id: Int
  var note: Reference<RestrictedNote>?

  init(_ id: Int, note: Int?) { (self.id, self.note) = (id, note.map { Reference($0) }) }

  static let schema = RecordSchema<Memo>(
    "Memo", fields: [.field("id", \.id), .field("note", \.note)], key: [\.id])

  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    note = try row.decode(at: 1)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(note, at: 1)
  }
}
