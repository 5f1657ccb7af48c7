package import PersistenceDriver
import PersistencePrimitives

/// The schemas of values, and those that every description has.
enum OpenAPISchemas {
  /// The schema of a field's value.
  static func field(_ field: FieldSchema) -> JSONValue {
    let kind = kind(field.kind)
    if field.kind == .document || !field.isOptional { return kind }
    return ["anyOf": [kind, ["type": "null"]]]
  }

  static func kind(_ kind: FieldKind) -> JSONValue {
    switch kind {
    case .bool: ["type": "boolean"]
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
      [
        "type": "integer", "minimum": .number("\(kind.integerRange?.lowerBound ?? .min)"),
        "maximum": .number("\(kind.integerRange?.upperBound ?? .max)"),
      ]
    case .float, .double: ["anyOf": [["type": "number"], special]]
    case .decimal:
      [
        "anyOf": [["type": "number"], ["const": "NaN"]],
        "description": "A number of up to 38 digits, read exactly",
      ]
    case .string: ["type": "string"]
    case .url: ["type": "string", "description": "A URL, absolute or relative"]
    case .data: ["type": "string", "format": "byte", "pattern": "^([A-Za-z0-9+/]{4})*$"]
    case .date: ["type": "string", "format": "date-time", "description": "In UTC, with Z"]
    case .uuid: ["type": "string", "format": "uuid"]
    case .document:
      ["description": "Any JSON; an object with the only member $json wraps null, and any such object"]
    }
  }

  private static let special: JSONValue = ["enum": ["NaN", "Infinity", "-Infinity"]]

  static func array(_ items: JSONValue) -> JSONValue { ["type": "array", "items": items] }

  /// An object without further members.
  static func object(_ properties: KeyValuePairs<String, JSONValue>, required: [String] = []) -> JSONValue {
    var members = [
      JSONMember("type", "object"), JSONMember("additionalProperties", false),
      JSONMember("properties", .object(properties.map { JSONMember($0, $1) })),
    ]
    if !required.isEmpty { members.append(JSONMember("required", .array(required.map { .string($0) }))) }
    return .object(members)
  }

  static let text: JSONValue = ["type": "string"]
  static let flag: JSONValue = ["type": "boolean"]
  static let count: JSONValue = ["type": "integer", "minimum": 0]

  /// The schemas that every description has.
  static let common = answers.map { JSONMember($0, $1) } + queries.map { JSONMember($0, $1) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(integerLiteral value: Int) { self = .number("\(value)") }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { JSONMember($0.0, $0.1) })
  }
}
