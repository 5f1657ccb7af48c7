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

  /// Whether an insertion has to say that it gives values to identity columns, which the server would generate.
  package let overridesIdentity: Bool

  package init(
    name: String, columns: [SQLColumn], key: [Int], indexes: [[Int]] = [], rowID: String?,
    isForeign: Bool = false, hasConflictClauses: Bool = false, overridesIdentity: Bool = false
  ) {
    self.name = name
    self.columns = columns
    self.key = key
    self.indexes = indexes
    self.rowID = rowID
    self.isForeign = isForeign
    self.hasConflictClauses = hasConflictClauses
    self.overridesIdentity = overridesIdentity
  }
}

/// A column that holds a field.
package struct SQLColumn: Sendable, Hashable {
  /// How to write the column in a comparison, so that it compares as the contract requires.
  package enum Comparison: Sendable, Hashable {
    /// The bare column.
    case plain
    /// With the binary collation, where the column's declaration has another.
    ///
    /// PostgreSQL needs it for orders only: its deterministic collations have the equality of bytes.
    case byBytes
    /// By a cast to text, because the column's type has another equality or none.
    case asText
    /// The bare column; results widen it to an integer of 64 bits.
    case asInt8
    /// Without the column's affinity, which would convert a text operand to a number.
    case withoutAffinity
    /// Through a function that turns every value into a document, in results as well; such a column is read-only.
    case asDocument
  }

  /// How a parameter becomes a value of the column.
  package enum Conversion: Sendable, Hashable {
    /// As it is.
    case none
    /// By a cast to a type, whose name is quoted; comparisons are between texts.
    case cast(String)
    /// To a `jsonb`; a text that the server would write otherwise is an error. Comparisons are between texts.
    case exactJSON
    /// From a moment to its local time in UTC.
    case localTime
    /// From a moment to its day in UTC.
    case day
  }

  /// The column's name in the database, unquoted.
  package let name: String

  /// The kind of value that the field holds.
  package let kind: FieldKind

  /// Whether the column may hold NULL, as keys of other programs' tables may although their fields are not optional.
  package let isOptional: Bool

  /// How to compare it.
  package let comparison: Comparison

  /// Whether the column's type is PostgreSQL's `varchar`, which has no operators of its own.
  package let isVarying: Bool

  /// Whether the column's affinity turns texts that look like numbers into numbers.
  package let convertsText: Bool

  /// How a parameter becomes a value of the column.
  package let conversion: Conversion

  package init(
    _ name: String, _ kind: FieldKind, isOptional: Bool, comparison: Comparison = .plain,
    convertsText: Bool = false, conversion: Conversion = .none, isVarying: Bool = false
  ) {
    self.name = name
    self.kind = kind
    self.isOptional = isOptional
    self.comparison = comparison
    self.convertsText = convertsText
    self.conversion = conversion
    self.isVarying = isVarying
  }
}
