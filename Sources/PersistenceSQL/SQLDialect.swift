package import PersistenceDriver

/// The syntax and functions of one SQL database.
package protocol SQLDialect: Sendable {
  /// A parameter, by its number from 1.
  func parameter(_ number: Int) -> String

  /// A quoted name.
  func identifier(_ name: String) -> String

  /// The clause after `INSERT` or `UPDATE` that makes a conflict fail, whatever the table declares.
  var abortClause: String { get }

  /// A column as a result or an argument.
  func value(_ column: SQLColumn) -> String

  /// A column as an operand of a comparison or a sort key.
  func compared(_ column: SQLColumn) -> String

  /// An equivalent expression that the database does not look up in an index.
  func unindexed(_ expression: String) -> String

  /// The expression to compare and sort by, so that the order of a kind is the contract's.
  func orderKey(_ expression: String, of kind: FieldKind) -> String

  /// Whether two expressions differ, where NULL equals NULL.
  func isDistinct(_ left: String, _ right: String) -> String

  /// Whether two expressions are equal, where NULL equals NULL.
  func isSame(_ left: String, _ right: String) -> String

  /// Whether a column that is not NULL holds one of the values in a list parameter.
  func isMember(_ column: String, of parameter: String, isNegated: Bool) -> String

  /// Whether the search in a parameter matches a column; never UNKNOWN.
  func search(_ parameter: String, in column: String) -> String

  /// Whether the condition in a parameter is true for the columns; never UNKNOWN.
  func evaluate(_ parameter: String, for columns: [String]) -> String

  /// One criterion of an order: NULL first if ascending, last if descending (contract O3).
  func criterion(_ expression: String, isDescending: Bool) -> String
}
