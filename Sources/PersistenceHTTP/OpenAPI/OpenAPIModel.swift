import PersistenceDriver
import PersistencePrimitives

/// What the description says of one model.
struct OpenAPIModel {
  private let schema: ModelSchema
  private let number: Int
  private let limits: QueryLimits

  init(_ schema: ModelSchema, _ number: Int, _ limits: QueryLimits) {
    self.schema = schema
    self.number = number
    self.limits = limits
  }

  /// The name of the record's schema.
  ///
  /// A model's own name may hold what a component's cannot: then it has a number, behind what no name has that can be
  /// used as it is.
  private var component: String {
    schema.name.utf8.allSatisfy { $0.isLetterOrDigit } && !schema.name.isEmpty
      ? "Record." + schema.name : "Record._\(number)"
  }

  private var pageComponent: String { component.replacing("Record.", with: "Page.") }

  private func operation(_ verb: String, _ summary: String) -> Operation {
    Operation("\(verb).\(component.dropFirst(7))", summary)
  }

  /// The paths of the model.
  var paths: [JSONMember] {
    let record = OpenAPIDocument.reference(component)
    let page = OpenAPIDocument.reference(pageComponent)
    let query = OpenAPIDocument.reference("Query")
    let number: JSONValue = [
      "type": "object", "required": ["count"], "properties": ["count": ["type": "integer", "minimum": 0]],
    ]
    let base = WirePath.model(schema.name).text
    return [
      JSONMember(
        base + "/records",
        [
          "get": operation("list", "Records, in pages; all of them as they are read for application/x-ndjson")
            .parameters(queryParameters(pageSize: limits.pageSize)).answers(200, page, lines: record).fails(
              400, 404, 422
            ).json,
          "post": operation("insert", "Adds a record").takes(record)
            .answers(201, record, headers: ["ETag", "Location"]).writes().json,
        ]),
      JSONMember(base + recordPath, recordOperations(record)),
      JSONMember(
        base + "/query",
        [
          "get": operation("queryByURL", "The same as a list").parameters(
            queryParameters(pageSize: limits.pageSize)
          )
          .answers(200, page, lines: record).fails(400, 404, 422).json,
          "post": operation("query", "Records, by a query that is sent as a body").takes(query)
            .answers(200, page, lines: record).fails(400, 404, 413, 415, 422).json,
        ]),
      JSONMember(
        base + "/count",
        [
          "get": operation("countByURL", "How many records a query has").parameters(
            queryParameters(pageSize: .max)
          )
          .answers(200, number).fails(400, 404, 422).json,
          "post": operation("count", "How many records a query has").takes(query).answers(200, number)
            .fails(400, 404, 413, 415, 422).json,
        ]),
    ]
  }

  private var recordPath: String {
    "/records" + schema.key.indices.map { "/{key\($0 + 1)}" }.joined()
  }

  private func recordOperations(_ record: JSONValue) -> JSONValue {
    let keys = zip(schema.keyPositions, 1...).map { position, number -> JSONValue in
      let field = schema.fields[position]
      var kind = OpenAPISchemas.kind(field.kind)
      // An empty text is a key like any other, but no client makes a path with an empty end.
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
        .parameters([condition("If-None-Match", "Nothing but 304 where the record has this tag")])
        .answers(200, record, headers: ["ETag"]).answers(304, headers: ["ETag"]).fails(400, 404).json,
      "put": operation("save", "Replaces a record, or adds it, as the conditions allow").takes(record)
        .parameters([
          condition("If-Match", "Only where the stored record has this tag, or is there at all for *"),
          condition("If-None-Match", "For *: only where there is no such record"),
        ])
        .answers(200, record, headers: ["ETag"]).answers(201, record, headers: ["ETag"]).writes().json,
      "delete": operation("delete", "Deletes a record, and answers with it")
        .parameters([condition("If-Match", "Only where the stored record has this tag")])
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
        "A condition in the words of SQL, such as budget >= 1e7 and rating = 'PG-13'; see Documentation/Server.md"
      ),
      parameter("sort", ["type": "string"], "Fields with commas; - before one means descending"),
      parameter(
        "limit", ["type": "integer", "minimum": 0, "maximum": .number("\(pageSize)")],
        "The records of a page"),
      parameter(
        "offset", ["type": "integer", "minimum": 0, "maximum": .number("\(Int.max)")], "Records passed over"
      ),
      parameter("after", ["type": "string"], "The token that the page before gave as next"),
    ]
  }

  /// The schemas of the model.
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

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
