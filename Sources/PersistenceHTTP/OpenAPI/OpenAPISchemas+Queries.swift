import PersistenceDriver
import PersistencePrimitives

extension OpenAPISchemas {
  /// The bodies of queries and batches.
  static let queries: KeyValuePairs<String, JSONValue> = [
    "Query": query(selecting: [
      JSONMember(
        "select",
        [
          "anyOf": [text, ["type": "array", "minItems": 1, "items": text]],
          "description": "The fields of the answer's records; all if it is absent",
        ]),
      JSONMember(
        "include",
        [
          "anyOf": [text, array(["anyOf": [text, OpenAPIDocument.reference("Inclusion")]])],
          "description":
            "References whose records the page includes, as text such as studio.owner or as objects",
        ]),
    ]),
    "Inclusion": [
      "type": "object", "additionalProperties": false,
      "properties": [
        "has": text, "hasAny": text, "model": text, "where": OpenAPIDocument.reference("Condition"),
        "include": array(["anyOf": [text, OpenAPIDocument.reference("Inclusion")]]),
      ],
      "description":
        "The record that a reference leads to (has), or the records of model that refer to this one (hasAny)",
    ],
    "CountQuery": query(selecting: []),
    "Sort": object(
      [
        "field": text, "descending": flag,
        "of": ["type": "string", "description": "The reference to the record that has the field"],
        "model": text,
      ], required: ["field"]),
    "Condition": [
      "anyOf": [text, flag, OpenAPIDocument.reference("ConditionObject")],
      "description": "A condition as text, true for all records, false for none, or an object",
    ],
    "ConditionObject": conditionObject,
    "Comparison": [
      "type": "string",
      "enum": .array(
        (["="] + ComparisonOperator.allCases.map(\.rawValue)).map { .string($0) }),
    ],
    "Batch": object(
      ["id": ["type": "string", "format": "uuid"], "changes": array(OpenAPIDocument.reference("Change"))],
      required: ["changes"]),
    "Change": change,
  ]

  private static func query(selecting: [JSONMember]) -> JSONValue {
    let members: [JSONMember] = [
      JSONMember("where", OpenAPIDocument.reference("Condition")),
      JSONMember(
        "sort", ["anyOf": [text, array(["anyOf": [text, OpenAPIDocument.reference("Sort")]])]]),
      JSONMember("limit", count), JSONMember("offset", count),
      JSONMember(
        "after",
        [
          "anyOf": [text, ["type": "array", "items": [:]], ["type": "object"]],
          "description":
            "The token of the previous page, or the values of the order in its last record, or that record",
        ]),
    ]
    return [
      "type": "object", "additionalProperties": false, "properties": .object(members + selecting),
    ]
  }

  /// An object that is a condition: a junction, or a test of one field.
  ///
  /// One schema has the members of all of them: generators make one type of it, where they would make one for each of
  /// twenty alternatives.
  private static var conditionObject: JSONValue {
    let nested: JSONValue = ["anyOf": [flag, OpenAPIDocument.reference("ConditionObject")]]
    let members: KeyValuePairs<String, JSONValue> = [
      "all": array(nested), "any": array(nested), "not": nested, "field": text,
      "path": [
        "type": "array", "items": text,
        "description": "The names of members that lead to a part of a document",
      ],
      "is": OpenAPIDocument.reference("Comparison"),
      "value": ["description": "The operand; null for no value"],
      "other": ["type": "string", "description": "The field to compare with"],
      "in": ["type": "array", "items": [:]],
      "between": ["type": "array", "minItems": 2, "maxItems": 2, "items": [:]],
      "includes": ["description": "An element of an array in a document"], "caseInsensitive": flag,
      "has": ["type": "string", "description": "A reference whose record matches where"],
      "hasAny": ["type": "string", "description": "A reference of model to this record"], "model": text,
      "where": nested,
    ]
    let searches = TextOperator.allCases.map { JSONMember($0.rawValue, text) }
    return [
      "type": "object", "additionalProperties": false,
      "properties": .object(members.map { JSONMember($0, $1) } + searches),
      "description":
        "One of all, any and not, or a field with is and value or other, in, between, includes or a search in its text",
    ]
  }

  private static var change: JSONValue {
    let record: JSONValue = ["type": "object", "description": "A record of the model"]
    return object(
      [
        "model": text, "insert": record, "update": record, "save": record,
        "delete": ["type": "object", "description": "The key of a record"],
        "ifMatch": ["type": "string", "description": "The entity tag that an update replaces"],
      ], required: ["model"])
  }
}
