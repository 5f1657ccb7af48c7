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
