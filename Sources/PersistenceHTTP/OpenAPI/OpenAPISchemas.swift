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

  static let common: KeyValuePairs<String, JSONValue> = [
    "Problem": [
      "type": "object", "required": ["type", "title", "status", "detail", "code"],
      "properties": [
        "type": ["type": "string"], "title": ["type": "string"], "status": ["type": "integer"],
        "detail": ["type": "string"], "code": ["type": "string"], "model": ["type": "string"],
        "field": ["type": "string"], "change": ["type": "integer"],
        "differences": [
          "type": "array", "description": "What differs between the client's schema and the store",
          "items": [
            "type": "object", "required": ["model", "kind", "words"],
            "properties": [
              "model": ["type": "string"], "kind": ["type": "string"], "words": ["type": "string"],
            ],
          ],
        ],
      ],
    ],
    "Models": [
      "type": "object", "required": ["models"],
      "properties": ["models": ["type": "array", "items": OpenAPIDocument.reference("Model")]],
    ],
    "Model": [
      "type": "object", "required": ["name", "fields", "key", "indexes"],
      "properties": [
        "name": ["type": "string"],
        "fields": [
          "type": "array",
          "items": [
            "type": "object", "required": ["name", "kind", "isOptional"],
            "properties": [
              "name": ["type": "string"],
              "kind": ["enum": .array(FieldKind.allCases.map { .string($0.rawValue) })],
              "isOptional": ["type": "boolean"],
              "was": ["type": "array", "items": ["type": "string"], "description": "Earlier names"],
              "fill": ["description": "The value of records from before the field"],
            ],
          ],
        ],
        "was": ["type": "array", "items": ["type": "string"], "description": "Earlier names"],
        "key": ["type": "array", "minItems": 1, "items": ["type": "string"]],
        "indexes": [
          "type": "array",
          "items": [
            "type": "object", "required": ["fields", "isUnique"],
            "properties": [
              "fields": ["type": "array", "items": ["type": "string"]], "isUnique": ["type": "boolean"],
            ],
          ],
        ],
      ],
    ],
    "Query": [
      "type": "object", "additionalProperties": false,
      "properties": [
        "where": OpenAPIDocument.reference("Condition"),
        "sort": ["type": ["string", "array"]], "limit": ["type": "integer", "minimum": 0],
        "offset": ["type": "integer", "minimum": 0], "after": ["type": ["string", "array"]],
      ],
    ],
    "Condition": [
      "type": ["object", "boolean", "string"],
      "description":
        "A condition as text, true, false, or an object: all, any, not, or field with is and value or other, in, between, contains, hasPrefix, hasSuffix, like, matches; with path, a list of member names, is and value, includes, or a search, for a part of a document",
    ],
    "Batch": [
      "type": "object", "additionalProperties": false, "required": ["changes"],
      "properties": [
        "id": ["type": "string", "format": "uuid"],
        "changes": [
          "type": "array",
          "items": [
            "type": "object", "required": ["model"],
            "properties": [
              "model": ["type": "string"], "insert": ["type": "object"], "update": ["type": "object"],
              "save": ["type": "object"], "delete": ["type": "object"], "ifMatch": ["type": "string"],
            ],
          ],
        ],
      ],
    ],
  ]
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
