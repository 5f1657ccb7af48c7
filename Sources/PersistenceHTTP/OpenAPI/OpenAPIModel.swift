import PersistenceDriver
import PersistencePrimitives

/// The description of one model.
struct OpenAPIModel {
  let schema: ModelSchema
  /// The model's name in components and operations.
  let name: String
  let limits: QueryLimits

  /// The tag that groups the model's operations.
  var tag: JSONValue { ["name": .string(name), "description": .string("The records of \(schema.name)")] }

  private var record: JSONValue { OpenAPIDocument.reference("Record.\(name)") }
  /// Some fields of a record: the answer to a selection, and the body of a patch.
  private var fields: JSONValue { OpenAPIDocument.reference("Fields.\(name)") }
  /// A record, or the fields that `select` names.
  private var answer: JSONValue { ["anyOf": [record, fields]] }

  private func operation(_ verb: String, _ summary: String) -> Operation {
    Operation("\(verb).\(name)", tag: name, summary).takesSchema()
  }

  var paths: KeyValuePairs<String, JSONValue> {
    let query = OpenAPIDocument.reference("Query")
    let countQuery = OpenAPIDocument.reference("CountQuery")
    let count = OpenAPIDocument.reference("Count")
    let parameters = OpenAPIParameters(limits: limits)
    let base = WirePath.model(schema.name).text
    return [
      base + "/records": [
        "get": answersPages(operation("list", "Records, in pages, or streamed as application/x-ndjson")),
        "post": operation("insert", "Adds a record").takes(record)
          .answers(201, record, headers: ["ETag", "Location"]).writes().json,
      ],
      base + recordPath: recordOperations,
      base + "/query": [
        "get": answersPages(operation("queryByURL", "The same as list")),
        "post": operation("query", "Records, by a query in the body").takes(query)
          .parameters([OpenAPIParameters.prefer])
          .answers(200, page, lines: answer, headers: OpenAPIParameters.countHeaders)
          .fails(400, 404, 413, 415, 422).json,
      ],
      base + "/count": [
        "get": operation("countByURL", "The number of records that match a query")
          .parameters(parameters.condition(pageSize: .max)).answers(200, count).fails(400, 404, 422).json,
        "post": operation("count", "The number of records that match a query").takes(countQuery)
          .answers(200, count).fails(400, 404, 413, 415, 422).json,
      ],
      base + "/changes": [
        "get": operation("changes", "The records that were saved and deleted since a checkpoint")
          .parameters([OpenAPIParameters.since, parameters.changeLimit])
          .answers(200, OpenAPIDocument.reference("Changes.\(name)")).fails(400, 404, 410, 422).json
      ],
      base + "/events": [
        "get": operation("events", "The changes of records as server-sent events, without an end")
          .parameters([OpenAPIParameters.since, OpenAPIParameters.lastEvent])
          .answersText("text/event-stream").fails(400, 404, 422).json
      ],
    ]
  }

  private var page: JSONValue { OpenAPIDocument.reference("Page.\(name)") }

  private func answersPages(_ operation: Operation) -> JSONValue {
    let parameters = OpenAPIParameters(limits: limits)
    return
      operation.parameters(parameters.condition(pageSize: limits.pageSize))
      .parameters([
        OpenAPIParameters.select, OpenAPIParameters.include, OpenAPIParameters.prefer,
        OpenAPIParameters.ifChanged,
      ])
      .answers(200, page, lines: answer, headers: ["ETag", "Link"] + OpenAPIParameters.countHeaders)
      .answers(304, headers: ["ETag"]).fails(400, 404, 422).json
  }

  private var recordPath: String {
    "/records" + schema.key.indices.map { "/{key\($0 + 1)}" }.joined()
  }

  private var recordOperations: JSONValue {
    let keys = zip(schema.keyPositions, 1...).map { position, number -> JSONValue in
      let field = schema.fields[position]
      var kind = OpenAPISchemas.kind(field.kind)
      // The empty text is a valid key, but no client makes a path with an empty last segment.
      if field.kind == .string { kind = ["type": "string", "minLength": 1] }
      return [
        "name": .string("key\(number)"), "in": "path", "required": true, "schema": kind,
        "description": .string(field.name),
      ]
    }
    let ifMatch = OpenAPIParameters.tag("If-Match", "Only if the stored record has this tag")
    return [
      "parameters": .array(keys),
      "get": operation("find", "The record of a key")
        .parameters([OpenAPIParameters.select, ifMatch, OpenAPIParameters.ifChanged])
        .answers(200, answer, headers: ["ETag"]).answers(304, headers: ["ETag"]).fails(400, 404, 412).json,
      "put": operation("save", "Replaces or adds a record, as the conditions allow").takes(record)
        .parameters([
          OpenAPIParameters.tag(
            "If-Match", "Only if the stored record has this tag, or for * if it exists"),
          OpenAPIParameters.tag("If-None-Match", "For *: only if the record does not exist"),
        ])
        .answers(200, record, headers: ["ETag"]).answers(201, record, headers: ["ETag"]).writes().json,
      "patch": operation("patch", "Changes some fields of a record: a merge patch (RFC 7396)")
        .takes(fields, as: ["application/merge-patch+json", "application/json"])
        .parameters([ifMatch]).answers(200, record, headers: ["ETag"]).writes().json,
      "delete": operation("delete", "Deletes a record, and returns it")
        .parameters([ifMatch]).answers(200, record, headers: ["ETag"]).writes().json,
    ]
  }

  /// An object with the fields of the key.
  private var key: JSONValue {
    let fields = schema.keyPositions.map { schema.fields[$0] }
    return [
      "type": "object", "additionalProperties": false,
      "required": .array(fields.map { .string($0.name) }),
      "properties": .object(fields.map { JSONMember($0.name, OpenAPISchemas.field($0)) }),
    ]
  }

  var schemas: [JSONMember] {
    let required = schema.fields.filter { !$0.isOptional }.map { JSONValue.string($0.name) }
    let properties = JSONValue.object(
      schema.fields.map { JSONMember($0.name, OpenAPISchemas.field($0)) })
    return [
      JSONMember(
        "Record.\(name)",
        [
          "type": "object", "additionalProperties": false, "required": .array(required),
          "properties": properties,
        ]),
      JSONMember(
        "Fields.\(name)",
        [
          "type": "object", "additionalProperties": false, "properties": properties,
          "description": "Some fields of a record; null in a patch clears a field",
        ]),
      JSONMember("Key.\(name)", key),
      JSONMember(
        "Changes.\(name)",
        [
          "type": "object", "required": ["checkpoint", "saved", "deleted", "hasMore"],
          "properties": [
            "checkpoint": ["type": "string"], "saved": OpenAPISchemas.array(record),
            "deleted": OpenAPISchemas.array(OpenAPIDocument.reference("Key.\(name)")),
            "hasMore": ["type": "boolean"],
          ],
        ]),
      JSONMember(
        "Page.\(name)",
        [
          "type": "object", "required": ["records", "next"],
          "properties": [
            "records": OpenAPISchemas.array(answer), "next": ["type": ["string", "null"]],
            "included": [
              "type": "object", "description": "The included records of each model",
              "additionalProperties": OpenAPISchemas.array(["type": "object"]),
            ],
          ],
        ]),
    ]
  }
}
