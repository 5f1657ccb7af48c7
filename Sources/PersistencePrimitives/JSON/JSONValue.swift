/// A JSON value that keeps what was written: numbers as their text, members in their order.
///
/// `Double` would lose digits of large integers and decimals (contract V5), a dictionary would merge the two
/// normal forms of a name (V3).
package indirect enum JSONValue: Sendable {
  case null
  case bool(Bool)
  /// A number, as its text.
  case number(String)
  case string(String)
  case array([JSONValue])
  /// Members in the order of the text; no name stands twice.
  case object([JSONMember])

  /// The member of a name, compared by bytes; nil where this is no object or has none.
  package func member(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// What kind of value this is, for messages.
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a truth value"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// One member of a JSON object.
package struct JSONMember: Sendable {
  package var name: String
  package var value: JSONValue

  package init(_ name: String, _ value: JSONValue) {
    self.name = name
    self.value = value
  }
}

/// What is wrong with a JSON text, and where.
package struct JSONSyntaxError: Error, CustomStringConvertible {
  /// What is wrong.
  package var reason: String
  /// The line, from 1.
  package var line: Int
  /// The column in bytes of UTF-8, from 1.
  package var column: Int

  package var description: String { "line \(line), column \(column): \(reason)" }
}
