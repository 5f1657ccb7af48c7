package import PersistenceDriver

/// What tells one SQL database's language from another's.
package protocol SQLDialect: Sendable {
  /// A parameter, by its number from 1.
  func parameter(_ number: Int) -> String

  /// A name that means itself, whatever it holds.
  func identifier(_ name: String) -> String

  /// What stands behind `INSERT` and `UPDATE` so that a conflict is refused, whatever the table says of it.
  var aborting: String { get }

  /// A column where its values are read.
  func value(_ column: SQLColumn) -> String

  /// A column where it is compared or sorted by.
  func compared(_ column: SQLColumn) -> String

  /// An expression that means the same, and that the database does not look up in an index.
  func unindexed(_ expression: String) -> String

  /// What is compared and sorted by in the place of an expression of a kind, so that the order is the
  /// contract's.
  func orderKey(_ expression: String, of kind: FieldKind) -> String

  /// Whether two expressions differ, NULL being equal to NULL.
  func areDistinct(_ left: String, _ right: String) -> String

  /// Whether two expressions are the same, NULL being equal to NULL.
  func areSame(_ left: String, _ right: String) -> String

  /// Whether a column that is not NULL holds one of the values bound to one parameter.
  func isMember(_ column: String, of parameter: String, isNegated: Bool) -> String

  /// Whether the search bound to a parameter finds something in a column; never UNKNOWN.
  func isFound(_ parameter: String, in column: String) -> String

  /// Whether the condition bound to a parameter holds for the columns; never UNKNOWN.
  func holds(_ parameter: String, for columns: [String]) -> String

  /// One criterion of an order, with NULL first where it ascends and last where it descends (contract O3).
  func criterion(_ expression: String, isDescending: Bool) -> String
}
