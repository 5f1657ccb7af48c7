package import PersistenceDriver

/// A column that holds a field.
package struct SQLColumn: Sendable, Hashable {
  /// How the column is written where its values are compared, so that the comparison is the contract's; the last one
  /// also where it is read.
  package enum Comparison: Sendable, Hashable {
    /// As it stands.
    case plain
    /// With the collation of bytes, where the column was declared with another one.
    case byBytes
    /// Without the column's affinity, which would turn the text it is compared with into a number.
    case withoutAffinity
    /// Through a function that makes one document of whatever a cell holds; such a column is only read.
    case asDocument
  }

  /// The column's name in the database, as it stands between quotes.
  package let name: String

  /// The kind of value that the field holds.
  package let kind: FieldKind

  /// Whether the column may hold NULL.
  package let isOptional: Bool

  /// How it is compared.
  package let comparison: Comparison

  package init(_ name: String, _ kind: FieldKind, isOptional: Bool, comparison: Comparison = .plain) {
    self.name = name
    self.kind = kind
    self.isOptional = isOptional
    self.comparison = comparison
  }
}
