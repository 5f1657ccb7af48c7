package import PersistenceDriver
import PersistencePrimitives

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Makes a value of a literal.
  package init(stringLiteral value: String) { self = .string(value) }
  /// Makes a value of a literal.
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Makes a value of a literal.
  package init(integerLiteral value: Int) { self = .number("\(value)") }
  /// Makes a value of a literal.
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Makes a value of a literal.
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { JSONMember($0.0, $0.1) })
  }
}
