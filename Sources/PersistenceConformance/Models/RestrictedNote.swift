package import PersistenceCore

/// A context that has only a name and stores nothing.
final class AnotherContext: PersistentContext {}

/// A record restricted to a context that is never under test (contract E1).
package struct RestrictedNote: PersistentRecord, Hashable {
  package var id: Int
  package var text = ""

  /// Creates a note.
  package init(_ id: Int) { self.id = id }

  package static let supportedContexts = SupportedContexts.only(AnotherContext.self)

  package static let schema = RecordSchema<RestrictedNote>(
    "RestrictedNote", fields: [.field("id", \.id), .field("text", \.text)], key: [\.id])

  package var primaryKey: Int { id }

  package init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    text = try row.decode(at: 1)
  }

  package func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(text, at: 1)
  }
}
