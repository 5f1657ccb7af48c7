package import PersistenceDriver

/// SQLite's SQL, with the functions that the engine registers on its connections.
package struct SQLiteDialect: SQLDialect {
  /// The function `persistence_found(search, text)`.
  package static let searchFunction = "persistence_found"
  /// The function `persistence_holds(condition, value, …)`.
  package static let conditionFunction = "persistence_holds"
  /// The function `persistence_decimal(text)`: bytes that sort like the numbers.
  package static let decimalFunction = "persistence_decimal"
  /// The function `persistence_document(value)`: a JSON document, different for every value.
  package static let documentFunction = "persistence_document"
  /// The table-valued function `persistence_list(list)`, with one column, `value`.
  package static let listFunction = "persistence_list"

  package init() {}

  package func parameter(_ number: Int) -> String { "?\(number)" }

  package func identifier(_ name: String) -> String { "\"" + name.doubling("\"") + "\"" }

  package func table(_ name: String) -> String { inFile(name) }

  /// The quoted name of a table, an index or a view of the file.
  ///
  /// Without the schema, SQLite would take a temporary table or view of that name, which the app's own SQL may have made.
  package func inFile(_ name: String) -> String { "main." + identifier(name) }

  package func derivedTable(_ rows: String) -> String { "(\(rows))" }

  package func function(_ name: String) -> String { name }

  package func conflictTarget(_ column: SQLColumn) -> String {
    // A row ID has no collation.
    identifier(column.name) + (column.kind == .int64 ? "" : " COLLATE BINARY")
  }

  package func truth(_ isTrue: Bool) -> String { isTrue ? "1" : "0" }

  package var abortClause: String { "OR ABORT" }

  package func value(_ column: SQLColumn) -> String {
    switch column.comparison {
    case .asDocument: "\(Self.documentFunction)(\(identifier(column.name)))"
    case .plain, .byBytes, .withoutAffinity, .asText, .asInt8: identifier(column.name)
    }
  }

  package func compared(_ column: SQLColumn) -> String {
    switch column.comparison {
    case .plain, .asText, .asInt8: identifier(column.name)
    case .byBytes: identifier(column.name) + " COLLATE BINARY"
    case .withoutAffinity: "+" + identifier(column.name) + " COLLATE BINARY"
    case .asDocument: value(column)
    }
  }

  package func ordered(_ column: SQLColumn) -> String { compared(column) }

  package func operand(_ parameter: String, of column: SQLColumn) -> String { parameter }

  package func assigned(_ parameter: String, to column: SQLColumn) -> String { parameter }

  package func unindexed(_ expression: String) -> String { "+" + expression }

  package func orderKey(_ expression: String, of kind: FieldKind) -> String {
    kind == .decimal ? "\(Self.decimalFunction)(\(expression))" : expression
  }

  package func isDistinct(_ left: String, _ right: String) -> String { "\(left) IS NOT \(right)" }

  package func isSame(_ left: String, _ right: String) -> String { "\(left) IS \(right)" }

  package func isMember(_ column: String, of parameter: String, isNegated: Bool) -> String {
    "\(column) \(isNegated ? "NOT " : "")IN (SELECT value FROM \(Self.listFunction)(\(parameter)))"
  }

  package func join(_ table: SQLTable, withList parameter: String) -> String? {
    // With IN, SQLite would sort the list into a table of its own. CROSS JOIN keeps the order of the two.
    let (list, key) = ("persistence keys", "persistence key")
    let column = table.columns[table.key[0]].name
    // A row ID has no name beside a second table. Columns have no qualifier: the name must not be ambiguous.
    guard column != table.rowID, !table.columns.contains(where: { $0.name.lowercased() == key }) else {
      return nil
    }
    let keys = "SELECT value AS \(identifier(key)) FROM \(Self.listFunction)(\(parameter))"
    return "(\(keys)) AS \(identifier(list)) CROSS JOIN \(self.table(table.name)) "
      + "WHERE \(identifier(column)) = \(identifier(list)).\(identifier(key))"
  }

  package func lower(_ search: TextOperator, _ needle: String, isCaseInsensitive: Bool) throws -> SQLSearch? {
    .function(try TextMatcher(search, needle, isCaseInsensitive: isCaseInsensitive))
  }

  package func search(_ parameter: String, in column: String) -> String {
    "\(Self.searchFunction)(\(parameter), \(column))"
  }

  package func matches(_ column: String, _ parameter: String, isCaseInsensitive: Bool, isNegated: Bool)
    -> String
  {
    // SQLite's LIKE stops at U+0000: `lower` never asks for it.
    truth(false)
  }

  package func evaluate(_ parameter: String, for columns: [String]) -> String {
    "\(Self.conditionFunction)(\(([parameter] + columns).joined(separator: ", ")))"
  }

  package func criterion(_ expression: String, of column: SQLColumn, isDescending: Bool) -> String {
    isDescending ? expression + " DESC" : expression
  }
}
