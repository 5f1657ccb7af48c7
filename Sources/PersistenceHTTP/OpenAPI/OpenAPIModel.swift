import PersistenceDriver
import PersistencePrimitives

/// The description of one model.
struct OpenAPIModel {
  let schema: ModelSchema
  /// The position of the model in the description.
  let number: Int
  let limits: QueryLimits

  /// The name of the record's schema.
  ///
  /// A model's name may contain characters that component names may not. It then has a number, after a prefix
  /// that no other name has.
  private var component: String {
    schema.name.utf8.allSatisfy { $0.isLetterOrDigit } && !schema.name.isEmpty
      ? "Record." + schema.name : "Record._\(number)"
  }

  private var pageComponent: String { component.replacing("Record.", with: "Page.") }

  private func operation(_ verb: String, _ summary: String) -> Operation {
    Operation("\(verb).\(component.dropFirst(7))", summary).takesSchema()
  }

  var paths: KeyValuePairs<String, JSONValue> {
    let record = OpenAPIDocument.reference(component)
    let page = OpenAPIDocument.reference(pageComponent)
    let query = OpenAPIDocument.reference("Query")
    let number: JSONValue = [
      "type": "object", "required": ["count"], "properties": ["count": ["type": "integer", "minimum": 0]],
    ]
    let base = WirePath.model(schema.name).text
    let pageParameters = queryParameters(pageSize: limits.pageSize)
    return [
      base + "/records": [
        "get": operation("list", "Records, in pages, or streamed as application/x-ndjson")
          .parameters(pageParameters).answers(200, page, lines: record).fails(400, 404, 422).json,
        "post": operation("insert", "Adds a record").takes(record)
          .answers(201, record, headers: ["ETag", "Location"]).writes().json,
      ],
      base + recordPath: recordOperations(record),
      base + "/query": [
        "get": operation("queryByURL", "The same as list")
          .parameters(pageParameters).answers(200, page, lines: record).fails(400, 404, 422).json,
        "post": operation("query", "Records, by a query in the body").takes(query)
          .answers(200, page, lines: record).fails(400, 404, 413, 415, 422).json,
      ],
      base + "/count": [
        "get": operation("countByURL", "The number of records that match a query")
          .parameters(queryParameters(pageSize: .max)).answers(200, number).fails(400, 404, 422).json,
        "post": operation("count", "The number of records that match a query").takes(query)
          .answers(200, number).fails(400, 404, 413, 415, 422).json,
      ],
    ]
  }

  private var recordPath: String {
    "/records" + schema.key.indices.map { "/{key\($0 + 1)}" }.joined()
  }

  private func recordOperations(_ record: JSONValue) -> JSONValue {
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
    func condition(_ name: String, _ summary: String) -> JSONValue {
      [
        "name": .string(name), "in": "header", "required": false, "description": .string(summary),
        "schema": ["type": "string", "pattern": #"^(\*|(W/)?"[A-Za-z0-9_-]*")$"#],
      ]
    }
    return [
      "parameters": .array(keys),
      "get": operation("find", "The record of a key")
        .parameters([
          condition("If-Match", "Only if the stored record has this tag"),
          condition("If-None-Match", "Answers 304 if the record has this tag"),
        ])
        .answers(200, record, headers: ["ETag"]).answers(304, headers: ["ETag"]).fails(400, 404, 412).json,
      "put": operation("save", "Replaces or adds a record, as the conditions allow").takes(record)
        .parameters([
          condition("If-Match", "Only if the stored record has this tag, or for * if it exists"),
          condition("If-None-Match", "For *: only if the record does not exist"),
        ])
        .answers(200, record, headers: ["ETag"]).answers(201, record, headers: ["ETag"]).writes().json,
      "patch": operation("patch", "Changes some fields of a record: a merge patch (RFC 7396)")
        .takes(["type": "object", "description": "The fields to change; null clears one"])
        .parameters([condition("If-Match", "Only if the stored record has this tag")])
        .answers(200, record, headers: ["ETag"]).writes().json,
      "delete": operation("delete", "Deletes a record, and returns it")
        .parameters([condition("If-Match", "Only if the stored record has this tag")])
        .answers(200, record, headers: ["ETag"]).writes().json,
    ]
  }

  private func queryParameters(pageSize: Int) -> [JSONValue] {
    func parameter(_ name: String, _ schema: JSONValue, _ summary: String) -> JSONValue {
      [
        "name": .string(name), "in": "query", "required": false, "schema": schema,
        "description": .string(summary),
      ]
    }
    return [
      parameter(
        "where", ["type": "string"],
        "A condition in the query language, such as budget >= 1e7 and rating = 'PG-13'; see Documentation/Server.md"
      ),
      parameter("sort", ["type": "string"], "Fields, separated by commas; - before a field means descending"),
      parameter(
        "limit", ["type": "integer", "minimum": 0, "maximum": .number("\(pageSize)")],
        "The maximum number of records in a page"),
      parameter(
        "offset", ["type": "integer", "minimum": 0, "maximum": .number("\(Int.max)")],
        "The number of records to skip"),
      parameter("after", ["type": "string"], "The token of the previous page's next"),
    ]
  }

  var schemas: [JSONMember] {
    let required = schema.fields.filter { !$0.isOptional }.map { JSONValue.string($0.name) }
    let record: JSONValue = [
      "type": "object", "additionalProperties": false, "required": .array(required),
      "properties": .object(schema.fields.map { JSONMember($0.name, OpenAPISchemas.field($0)) }),
    ]
    let page: JSONValue = [
      "type": "object", "required": ["records", "next"],
      "properties": [
        "records": ["type": "array", "items": OpenAPIDocument.reference(component)],
        "next": ["type": ["string", "null"]],
      ],
    ]
    return [JSONMember(component, record), JSONMember(pageComponent, page)]
  }
}
