package import PersistenceDriver

/// A model's table as one declaration of the model sees it: a column's position is that of its declared field.
package struct SQLTable: Sendable, Hashable {
  /// The table's name in the database.
  package let name: String

  /// The columns, in the order of the declared fields.
  package let columns: [SQLColumn]

  /// The positions of the primary key's columns, in the key's order.
  package let key: [Int]

  /// The positions of each declared index's columns.
  package let indexes: [[Int]]

  /// The name of the row ID, such as `rowid`; nil where rows have none.
  package let rowID: String?

  /// Whether another program made the table, which may hold values that this library would not write.
  package let isForeign: Bool

  /// Whether the table's definition has `ON CONFLICT` clauses.
  ///
  /// Only then do statements override them: a statement's conflict clause also applies to the table's triggers, whose
  /// own `INSERT OR IGNORE` would fail.
  package let hasConflictClauses: Bool

  package init(
    name: String, columns: [SQLColumn], key: [Int], indexes: [[Int]] = [], rowID: String?,
    isForeign: Bool = false, hasConflictClauses: Bool = false
  ) {
    self.name = name
    self.columns = columns
    self.key = key
    self.indexes = indexes
    self.rowID = rowID
    self.isForeign = isForeign
    self.hasConflictClauses = hasConflictClauses
  }
}

/// A column that holds a field.
package struct SQLColumn: Sendable, Hashable {
  /// How to write the column in a comparison, so that it compares as the contract requires.
  package enum Comparison: Sendable, Hashable {
    /// The bare column.
    case plain
    /// With the binary collation, where the column's declaration has another.
    case byBytes
    /// Without the column's affinity, which would convert a text operand to a number.
    case withoutAffinity
    /// Through a function that turns every value into a document, in results as well; such a column is read-only.
    case asDocument
  }

  /// The column's name in the database, unquoted.
  package let name: String

  /// The kind of value that the field holds.
  package let kind: FieldKind

  /// Whether the column may hold NULL, as keys of other programs' tables may although their fields are not optional.
  package let isOptional: Bool

  /// How to compare it.
  package let comparison: Comparison

  /// Whether the column's affinity turns texts that look like numbers into numbers.
  package let convertsText: Bool

  package init(
    _ name: String, _ kind: FieldKind, isOptional: Bool, comparison: Comparison = .plain,
    convertsText: Bool = false
  ) {
    self.name = name
    self.kind = kind
    self.isOptional = isOptional
    self.comparison = comparison
    self.convertsText = convertsText
  }
}
