package import PersistenceCore

/// A record with one key of any key type.
package struct Keyed<Key: PersistentKey & OracleValue & ExactText>: PersistentRecord {
  package var id: Key
  package var label: String

  /// Creates a record.
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
package struct WrappedNumber: RawRepresentable, PersistentKey, PersistentValueConvertible, ExactText {
  /// The number.
  package var rawValue: Int64
  /// Wraps a number.
  package init(rawValue: Int64) { self.rawValue = rawValue }
}

extension WrappedNumber: OracleOrder {
  /// Compares the numbers.
  package static func oracle(_ left: WrappedNumber, _ right: WrappedNumber) -> Int {
    Int64.oracle(left.rawValue, right.rawValue)
  }
}

/// A key that is an enum over text.
package enum WrappedWord: String, PersistentKey, PersistentValueConvertible, ExactText, CaseIterable {
  /// A word that sorts after all others, which start with capitals or symbols.
  case lower = "a"
  /// The empty word.
  case empty = ""
  /// A word in capitals.
  case upper = "A"
  /// A word beyond ASCII.
  case accented = "É"
}

extension WrappedWord: OracleOrder {
  /// Compares the words.
  package static func oracle(_ left: WrappedWord, _ right: WrappedWord) -> Int {
    String.oracle(left.rawValue, right.rawValue)
  }
}
