package import PersistenceDriver

/// The syntax and functions of one SQL database.
package protocol SQLDialect: Sendable {
  /// A parameter, by its number from 1.
  func parameter(_ number: Int) -> String

  /// A quoted name.
  func identifier(_ name: String) -> String

  /// The name of a model's table in a statement, quoted.
  func table(_ name: String) -> String

  /// A rowset in parentheses after `FROM`.
  func derivedTable(_ rows: String) -> String

  /// The name of an aggregate function in a statement.
  func function(_ name: String) -> String

  /// The condition that is always true or always false.
  func truth(_ isTrue: Bool) -> String

  /// A column of the key as the target of `ON CONFLICT`, which no index with another equality matches.
  func conflictTarget(_ column: SQLColumn) -> String

  /// The clause after `INSERT` or `UPDATE` that makes a conflict fail, whatever the table declares.
  var abortClause: String { get }

  /// A column as a result or an argument.
  func value(_ column: SQLColumn) -> String

  /// A column as an operand of an equality.
  func compared(_ column: SQLColumn) -> String

  /// A column as an operand of an order.
  func ordered(_ column: SQLColumn) -> String

  /// A parameter as an operand of a comparison with a column.
  func operand(_ parameter: String, of column: SQLColumn) -> String

  /// A parameter as the new value of a column.
  func assigned(_ parameter: String, to column: SQLColumn) -> String

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

  /// The rows of a table whose key, a single column, is in a list parameter, as the rest of a statement after `FROM`:
  /// in the order of the list, whose values are distinct.
  ///
  /// - Returns: nil if the database gains nothing, or the statement's columns would be ambiguous.
  func join(_ table: SQLTable, withList parameter: String) -> String?

  /// How the database searches text exactly as the contract requires; nil if only the evaluator does.
  func lower(_ search: TextOperator, _ needle: String, isCaseInsensitive: Bool) throws -> SQLSearch?

  /// Whether the search in a parameter matches a column; never UNKNOWN.
  func search(_ parameter: String, in column: String) -> String

  /// Whether a column matches the pattern in a parameter; UNKNOWN for NULL.
  func matches(_ column: String, _ parameter: String, isCaseInsensitive: Bool, isNegated: Bool) -> String

  /// Whether the condition in a parameter is true for the columns; never UNKNOWN.
  func evaluate(_ parameter: String, for columns: [String]) -> String

  /// One criterion of an order: NULL first if ascending, last if descending (contract O3).
  func criterion(_ expression: String, of column: SQLColumn, isDescending: Bool) -> String
}

/// A text search in the terms of a database.
package enum SQLSearch: Sendable {
  /// A call of a function of this package.
  case function(TextMatcher)
  /// A pattern of `LIKE`, with `\` as its escape character.
  case pattern(String, isCaseInsensitive: Bool)
}
