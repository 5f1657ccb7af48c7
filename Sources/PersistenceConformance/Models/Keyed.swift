package import PersistenceCore

/// A record with one key of any key type.
package struct Keyed<Key: PersistentKey & OracleValue & ExactText>: PersistentRecord {
  package var id: Key
  package var label: String

  package init(_ id: Key, _ label: String) {
    self.id = id
    self.label = label
  }

  package static var schema: RecordSchema<Keyed> {
    .shared(for: Keyed.self) {
      RecordSchema(
        "Keyed by \(Key.self)", fields: [.field("id", \.id), .field("label", \.label)], key: [\.id],
        indexes: [RecordIndex(\.label)])
    }
  }

  package var primaryKey: Key { id }

  package init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    label = try row.decode(at: 1)
  }

  package func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(label, at: 1)
  }
}

/// A key that wraps a number.
struct WrappedNumber: RawRepresentable, PersistentKey, OracleValue, ExactText { var rawValue: Int64 }

/// A key that is an enum over text.
enum WrappedWord: String, PersistentKey, OracleValue, ExactText, CaseIterable {
  case lower = "a"
  case empty = ""
  case upper = "A"
  case accented = "É"
}
