import PersistenceDriver
import PersistencePrimitives

extension OpenAPISchemas {
  /// Problems, models, and the answers that do not depend on a model.
  static let answers: KeyValuePairs<String, JSONValue> = [
    "Problem": [
      "type": "object", "required": ["type", "title", "status", "detail", "code"],
      "properties": [
        "type": text, "title": text, "status": ["type": "integer"], "detail": text,
        "code": ["type": "string", "description": "A stable code; clients decide by it"], "model": text,
        "field": text,
        "change": [
          "type": "integer", "description": "The position of the failed change in its batch, from 0",
        ],
        "differences": [
          "type": "array", "description": "What differs between the client's schema and the store",
          "items": OpenAPIDocument.reference("Difference"),
        ],
      ],
    ],
    "Difference": [
      "type": "object", "required": ["model", "kind", "words"],
      "properties": [
        "model": text, "kind": text, "words": ["type": "string", "description": "The difference as text"],
        "field": OpenAPIDocument.reference("Field"), "stored": OpenAPIDocument.reference("Field"),
        "name": text, "key": array(text), "cost": text,
      ],
    ],
    "Models": [
      "type": "object", "required": ["models"],
      "properties": ["models": array(OpenAPIDocument.reference("Model"))],
    ],
    "Model": [
      "type": "object", "required": ["name", "fields", "key", "indexes"],
      "properties": [
        "name": text, "fields": array(OpenAPIDocument.reference("Field")), "was": formerNames,
        "key": ["type": "array", "minItems": 1, "items": text],
        "indexes": array(OpenAPIDocument.reference("Index")),
      ],
    ],
    "Field": [
      "type": "object", "required": ["name", "kind", "isOptional"],
      "properties": [
        "name": text, "kind": OpenAPIDocument.reference("FieldKind"), "isOptional": flag,
        "was": formerNames, "fill": ["description": "The value of records from before the field"],
      ],
    ],
    "FieldKind": ["type": "string", "enum": .array(FieldKind.allCases.map { .string($0.rawValue) })],
    "Index": [
      "type": "object", "required": ["fields", "isUnique"],
      "properties": ["fields": array(text), "isUnique": flag],
    ],
    "Count": ["type": "object", "required": ["count"], "properties": ["count": count]],
    "AppliedBatch": ["type": "object", "required": ["applied"], "properties": ["applied": flag]],
    "AcceptedSchema": ["type": "object", "required": ["schema"], "properties": ["schema": text]],
  ]

  private static let formerNames: JSONValue = [
    "type": "array", "items": text, "description": "Earlier names",
  ]
}
