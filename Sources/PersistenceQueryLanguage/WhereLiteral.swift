import PersistenceDriver

/// A value in a condition, before it takes the kind of the field that it is compared with.
struct WhereLiteral: Equatable {
  /// What is written.
  enum Kind: Equatable {
    /// A number, as it is spelled.
    case number(String)
    /// A text.
    case text(String)
    /// Bytes.
    case bytes([UInt8])
    /// True or false.
    case truth(Bool)
  }

  /// What is written.
  let kind: Kind
  /// How many scalars stand before it.
  let position: Int

  /// What it is, in words.
  var noun: String {
    switch kind {
    case .number: "a number"
    case .text: "text"
    case .bytes: "bytes"
    case .truth: "a truth value"
    }
  }
}

/// A field in a condition.
struct WhereField {
  /// The field.
  let schema: FieldSchema
  /// How many scalars stand before its name.
  let position: Int
}
