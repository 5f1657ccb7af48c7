package import PersistenceDriver

/// PostgreSQL's SQL, over tables of one schema.
///
/// The text of this package's own tables has the collation `C`; ``SQLColumn/comparison`` says how to compare others.
///
/// The server looks operators and functions up in the user's schemas as well, and prefers one of theirs that fits the types
/// exactly. So functions are qualified, and operands have the exact types of operators of the server.
package struct PostgresDialect: SQLDialect {
  private let schema: String

  /// Creates the dialect for the tables of a schema; every name in its statements is qualified.
  package init(schema: String) { self.schema = schema }

  package func parameter(_ number: Int) -> String { "$\(number)" }

  package func identifier(_ name: String) -> String { "\"" + name.doubling("\"") + "\"" }

  package func table(_ name: String) -> String { identifier(schema) + "." + identifier(name) }

  package func derivedTable(_ rows: String) -> String { "(\(rows)) AS page" }

  package func function(_ name: String) -> String { "pg_catalog." + name }

  package func conflictTarget(_ column: SQLColumn) -> String {
    identifier(column.name) + (column.kind == .string ? " COLLATE \"C\"" : "")
  }

  package func truth(_ isTrue: Bool) -> String { isTrue ? "TRUE" : "FALSE" }

  package var abortClause: String { "" }

  package func value(_ column: SQLColumn) -> String {
    // The same expression as in GROUP BY.
    column.comparison == .asInt8
      ? identifier(column.name) + "::int8"
      : column.kind == .document ? identifier(column.name) : ordered(column)
  }

  package func compared(_ column: SQLColumn) -> String {
    // JSON has no equality; canonical documents are equal if their texts are. The operators of `varchar` are those of text.
    column.comparison == .asText
      ? ordered(column)
      : identifier(column.name) + (column.kind == .document || column.isVarying ? "::text" : "")
  }

  package func ordered(_ column: SQLColumn) -> String {
    switch column.comparison {
    case .byBytes: compared(column) + " COLLATE \"C\""
    case .asText: identifier(column.name) + "::text COLLATE \"C\""
    case .plain, .withoutAffinity, .asDocument, .asInt8: compared(column)
    }
  }

  package func operand(_ parameter: String, of column: SQLColumn) -> String {
    switch column.conversion {
    case .localTime: "(\(parameter) AT TIME ZONE 'UTC')"
    case .day: "(\(parameter) AT TIME ZONE 'UTC')::date"
    case .none, .cast, .exactJSON: column.kind == .document ? parameter + "::text" : parameter
    }
  }

  package func assigned(_ parameter: String, to column: SQLColumn) -> String {
    switch column.conversion {
    case .none: parameter
    case .cast(let type): "\(parameter)::\(type)"
    // A text that is no JSON is an error, which nothing else in SQL can raise. A null parameter has no type of its own.
    case .exactJSON:
      "CASE WHEN \(parameter)::text::jsonb::text = \(parameter)::text THEN \(parameter)::text::jsonb "
        + "ELSE ('otherwise: ' || \(parameter)::text)::jsonb END"
    case .localTime, .day: operand(parameter, of: column)
    }
  }

  package func unindexed(_ expression: String) -> String { expression }

  package func orderKey(_ expression: String, of kind: FieldKind) -> String { expression }

  package func isDistinct(_ left: String, _ right: String) -> String { "\(left) IS DISTINCT FROM \(right)" }

  package func isSame(_ left: String, _ right: String) -> String { "\(left) IS NOT DISTINCT FROM \(right)" }

  package func isMember(_ column: String, of parameter: String, isNegated: Bool) -> String {
    isNegated ? "\(column) <> ALL(\(parameter))" : "\(column) = ANY(\(parameter))"
  }

  package func join(_ table: SQLTable, withList parameter: String) -> String? { nil }

  package func lower(_ search: TextOperator, _ needle: String, isCaseInsensitive: Bool) throws -> SQLSearch? {
    let scalars = needle.unicodeScalars
    // Stored text escapes U+0000 and U+0001, and in any case but ASCII the mappings differ from the server's.
    guard scalars.allSatisfy({ $0.value > 2 }), !isCaseInsensitive || scalars.allSatisfy(\.isASCII) else {
      return nil
    }
    let pattern: String
    switch search {
    case .contains: pattern = "%" + Self.literal(needle) + "%"
    case .hasPrefix: pattern = Self.literal(needle) + "%"
    case .hasSuffix: pattern = "%" + Self.literal(needle)
    case .like:
      // One scalar of a text may be stored as two, or become two in lower case.
      guard !scalars.contains("_") else { return nil }
      pattern = needle
    case .matches: return nil
    }
    return .pattern(pattern, isCaseInsensitive: isCaseInsensitive)
  }

  /// A pattern that only the text itself matches.
  private static func literal(_ text: String) -> String {
    var pattern = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar == "%" || scalar == "_" || scalar == "\\" { pattern.append("\\") }
      pattern.append(scalar)
    }
    return String(pattern)
  }

  /// Unused: ``lower(_:_:isCaseInsensitive:)`` never asks for a function.
  package func search(_ parameter: String, in column: String) -> String { truth(false) }

  package func matches(_ column: String, _ parameter: String, isCaseInsensitive: Bool, isNegated: Bool)
    -> String
  {
    guard isCaseInsensitive else { return "\(column) \(isNegated ? "NOT " : "")LIKE \(parameter)" }
    // With the collation C, ILIKE folds ASCII only. Just two other scalars have ASCII in their lower-case mappings.
    let replace = "pg_catalog.replace"
    let folded = "\(replace)(\(replace)(\(column), '\u{212A}', 'k'), '\u{130}', 'i\u{307}')"
    return "\(folded) \(isNegated ? "NOT " : "")ILIKE \(parameter)"
  }

  /// Unused: the engine evaluates on its side what the server cannot.
  package func evaluate(_ parameter: String, for columns: [String]) -> String { truth(false) }

  package func criterion(_ expression: String, of column: SQLColumn, isDescending: Bool) -> String {
    let direction = isDescending ? expression + " DESC" : expression
    // The order of a column without NULL stays that of its index, which has no clause.
    guard column.isOptional else { return direction }
    return direction + (isDescending ? " NULLS LAST" : " NULLS FIRST")
  }
}
