import PersistenceDriver
import PersistencePrimitives

/// A builder of one operation of the description.
struct Operation {
  private let id: String
  private let tag: String
  private let summary: String
  private var parameters: [JSONValue] = []
  private var bodies: [JSONMember] = []
  private var responses: [JSONMember] = []
  private var isFree = false

  init(_ id: String, tag: String, _ summary: String) {
    (self.id, self.tag, self.summary) = (id, tag, summary)
  }

  /// Allows requests without a token.
  func isOpen() -> Operation { changed { $0.isFree = true } }

  func parameters(_ more: [JSONValue]) -> Operation { changed { $0.parameters += more } }

  /// Allows requests in terms of a client's schema.
  func takesSchema() -> Operation {
    let parameter: JSONValue = [
      "name": "schema", "in": "query", "required": false, "schema": ["type": "string", "minLength": 1],
      "description":
        "The digest of the client's schema, in whose terms the server reads and writes; see /schemas/{digest}",
    ]
    return parameters([parameter]).fails(409, 428)
  }

  /// Adds a body, in each of the media types.
  func takes(_ schema: JSONValue, as types: [String] = ["application/json"]) -> Operation {
    changed { $0.bodies += types.map { JSONMember($0, ["schema": schema]) } }
  }

  /// Adds an answer, with or without a body.
  func answers(_ status: Int, _ schema: JSONValue? = nil, lines: JSONValue? = nil, headers: [String] = [])
    -> Operation
  {
    changed { operation in
      var content: [JSONMember] = []
      if let schema { content.append(JSONMember("application/json", ["schema": schema])) }
      if let lines { content.append(JSONMember("application/x-ndjson", ["schema": lines])) }
      var members = [JSONMember("description", .string(Self.description(status)))]
      if !content.isEmpty { members.append(JSONMember("content", .object(content))) }
      if !headers.isEmpty {
        members.append(Self.headers(headers))
      }
      operation.responses.append(JSONMember("\(status)", .object(members)))
    }
  }

  /// Adds an answer that is text.
  func answersText(_ type: String = "text/plain") -> Operation {
    changed { operation in
      let content = JSONValue.object([JSONMember(type, ["schema": ["type": "string"]])])
      operation.responses.append(
        JSONMember("200", ["description": .string(Self.description(200)), "content": content]))
    }
  }

  func fails(_ statuses: Int...) -> Operation { fails(statuses) }

  private func fails(_ statuses: [Int]) -> Operation {
    changed { operation in
      for status in statuses where !operation.responses.contains(where: { $0.name == "\(status)" }) {
        var members = [
          JSONMember("description", .string(Self.description(status))),
          JSONMember(
            "content", [Problem.mediaType: ["schema": OpenAPIDocument.reference("Problem")]]),
        ]
        if status == 401 { members.append(Self.headers(["WWW-Authenticate"])) }
        if status == 503 { members.append(Self.headers(["Retry-After"])) }
        operation.responses.append(JSONMember("\(status)", .object(members)))
      }
    }
  }

  private static func headers(_ names: [String]) -> JSONMember {
    JSONMember("headers", .object(names.map { JSONMember($0, ["schema": ["type": "string"]]) }))
  }

  /// Adds the failures of writing.
  func writes() -> Operation { fails([400, 403, 404, 409, 412, 413, 415, 422]) }

  var json: JSONValue {
    let operation = isFree ? self : fails([400, 401, 500, 503, 507])
    var members = [
      JSONMember("operationId", .string(id)), JSONMember("tags", .array([.string(tag)])),
      JSONMember("summary", .string(summary)),
      JSONMember("responses", .object(operation.responses)),
    ]
    if !parameters.isEmpty { members.append(JSONMember("parameters", .array(parameters))) }
    if !bodies.isEmpty {
      members.append(JSONMember("requestBody", ["required": true, "content": .object(bodies)]))
    }
    if isFree { members.append(JSONMember("security", .array([]))) }
    return .object(members)
  }

  private static func description(_ status: Int) -> String {
    switch status {
    case 200: "Done"
    case 201: "Made"
    case 204: "Yes"
    case 304: "The client's copy is current"
    case 400: "The request is invalid"
    case 401: "A token is missing or unknown"
    case 403: "The token lacks permission, or the store is read-only"
    case 404: "Not found"
    case 409: "Conflict with the stored data"
    case 410: "The changes since the checkpoint are not all known any more"
    case 412: "A condition of the request is false"
    case 413: "The body is too long"
    case 415: "The content type of the body is not JSON"
    case 422: "The store does not support that"
    case 428: "The server does not know the client's schema, which must be sent first"
    case 503: "The store is busy, or the request timed out"
    case 507: "The store is full"
    default: "The server failed"
    }
  }

  private func changed(_ change: (inout Operation) -> Void) -> Operation {
    var operation = self
    change(&operation)
    return operation
  }
}
