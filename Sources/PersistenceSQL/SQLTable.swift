/// A table that holds a model, seen through one declaration of it: the columns stand in the order of the
/// declared fields, so that a field's position is its column's.
package struct SQLTable: Sendable, Hashable {
  /// The table's name in the database.
  package let name: String

  /// The columns, in the order of the declared fields.
  package let columns: [SQLColumn]

  /// The positions of the primary key's columns, in the key's order.
  package let key: [Int]

  /// The positions of each declared index's columns.
  package let indexes: [[Int]]

  /// The name by which a row's number in the table is asked for, such as `rowid`; nil where rows have none.
  package let rowNumber: String?

  /// Whether another program made the table, and wrote what this library would not.
  package let isForeign: Bool

  /// Whether the table's definition says what becomes of conflicts, such as that a record takes the place of another.
  ///
  /// Statements overrule it, but only there: what a statement says also counts in the table's triggers, whose own
  /// `INSERT OR IGNORE` would fail otherwise.
  package let decidesConflicts: Bool

  package init(
    name: String, columns: [SQLColumn], key: [Int], indexes: [[Int]] = [], rowNumber: String?,
    isForeign: Bool = false, decidesConflicts: Bool = false
  ) {
    self.name = name
    self.columns = columns
    self.key = key
    self.indexes = indexes
    self.rowNumber = rowNumber
    self.isForeign = isForeign
    self.decidesConflicts = decidesConflicts
  }
}
