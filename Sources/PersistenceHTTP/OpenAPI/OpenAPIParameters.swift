import PersistenceDriver
import PersistencePrimitives

/// The parameters and headers of operations on records.
struct OpenAPIParameters {
  let limits: QueryLimits

  static let select = parameter(
    "select", ["type": "string", "minLength": 1],
    "The fields of the answer's records, separated by commas; all if it is absent")

  static let include = parameter(
    "include", ["type": "string", "minLength": 1],
    "References whose records the page includes, separated by commas, such as studio,studio.owner")

  /// Asks for the number of all matching records.
  static let prefer: JSONValue = header(
    "Prefer", ["type": "string"], "count=exact: the header Content-Range has the number of all records")

  /// The headers of an answer to ``prefer``.
  static let countHeaders = ["Content-Range", "Preference-Applied"]

  static let ifChanged = tag("If-None-Match", "Answers 304 if the tag of the answer is this one")

  /// A header that has an entity tag.
  static func tag(_ name: String, _ summary: String) -> JSONValue {
    header(name, ["type": "string", "pattern": #"^(\*|(W/)?"[A-Za-z0-9_-]*")$"#], summary)
  }

  /// The checkpoint of an earlier answer.
  static let since = parameter(
    "since", ["type": "string"], "The checkpoint of an earlier answer; the present state if it is absent")

  /// The checkpoint that a client of server-sent events repeats when it reconnects.
  static let lastEvent = header(
    "Last-Event-ID", ["type": "string"], "The id of the last event, which precedes the parameter since")

  /// The maximum number of changes in an answer.
  var changeLimit: JSONValue {
    Self.parameter(
      "limit", ["type": "integer", "minimum": 1, "maximum": .number("\(limits.pageSize)")],
      "The maximum number of changed records")
  }

  /// The parameters that choose records.
  func condition(pageSize: Int) -> [JSONValue] {
    [
      Self.parameter(
        "where", ["type": "string"],
        "A condition in the query language, such as budget >= 1e7 and rating = 'PG-13'; see Documentation/Server.md"
      ),
      Self.parameter(
        "sort", ["type": "string"],
        "Fields, separated by commas; - before a field means descending, and studio.name is a field of a related record"
      ),
      Self.parameter(
        "limit", ["type": "integer", "minimum": 0, "maximum": .number("\(pageSize)")],
        "The maximum number of records in a page"),
      Self.parameter(
        "offset", ["type": "integer", "minimum": 0, "maximum": .number("\(Int.max)")],
        "The number of records to skip"),
      Self.parameter("after", ["type": "string"], "The token of the previous page's next"),
    ]
  }

  private static func parameter(_ name: String, _ schema: JSONValue, _ summary: String) -> JSONValue {
    [
      "name": .string(name), "in": "query", "required": false, "schema": schema,
      "description": .string(summary),
    ]
  }

  private static func header(_ name: String, _ schema: JSONValue, _ summary: String) -> JSONValue {
    [
      "name": .string(name), "in": "header", "required": false, "schema": schema,
      "description": .string(summary),
    ]
  }
}
