/// A JSON value that keeps the spelling of numbers and the order of members.
///
/// `Double` would lose digits of large integers and decimals (contract V5). A dictionary would merge the two
/// normal forms of a name (V3).
package indirect enum JSONValue: Sendable {
  case null
  case bool(Bool)
  /// A number, as its text.
  case number(String)
  case string(String)
  case array([JSONValue])
  /// Members in the order of the text, with unique names.
  case object([JSONMember])

  /// The member with a name, compared by bytes; nil if there is none, or if this is not an object.
  package func member(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// The kind of value, for messages.
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a Boolean"
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

/// A syntax error in JSON text, with its position.
package struct JSONSyntaxError: Error, CustomStringConvertible {
  package var reason: String
  /// The line, from 1.
  package var line: Int
  /// The column in bytes of UTF-8, from 1.
  package var column: Int

  package var description: String { "line \(line), column \(column): \(reason)" }
}
