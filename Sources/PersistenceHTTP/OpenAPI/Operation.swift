import PersistenceDriver
import PersistencePrimitives

/// A builder of one operation of the description.
struct Operation {
  private let id: String
  private let summary: String
  private var parameters: [JSONValue] = []
  private var body: JSONValue?
  private var responses: [JSONMember] = []
  private var isFree = false

  init(_ id: String, _ summary: String) {
    self.id = id
    self.summary = summary
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

  func takes(_ schema: JSONValue) -> Operation { changed { $0.body = schema } }

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
        members.append(
          JSONMember("headers", .object(headers.map { JSONMember($0, ["schema": ["type": "string"]]) })))
      }
      operation.responses.append(JSONMember("\(status)", .object(members)))
    }
  }

  /// Adds an answer that is plain text.
  func answersText() -> Operation {
    changed { operation in
      let content: JSONValue = ["text/plain": ["schema": ["type": "string"]]]
      operation.responses.append(
        JSONMember("200", ["description": .string(Self.description(200)), "content": content]))
    }
  }

  func fails(_ statuses: Int...) -> Operation { fails(statuses) }

  private func fails(_ statuses: [Int]) -> Operation {
    changed { operation in
      for status in statuses where !operation.responses.contains(where: { $0.name == "\(status)" }) {
        operation.responses.append(
          JSONMember(
            "\(status)",
            [
              "description": .string(Self.description(status)),
              "content": [Problem.mediaType: ["schema": OpenAPIDocument.reference("Problem")]],
            ]))
      }
    }
  }

  /// Adds the failures of writing.
  func writes() -> Operation { fails([400, 403, 404, 409, 412, 413, 415, 422]) }

  var json: JSONValue {
    let operation = isFree ? self : fails([400, 401, 500, 503, 507])
    var members = [
      JSONMember("operationId", .string(id)), JSONMember("summary", .string(summary)),
      JSONMember("responses", .object(operation.responses)),
    ]
    if !parameters.isEmpty { members.append(JSONMember("parameters", .array(parameters))) }
    if let body {
      members.append(
        JSONMember("requestBody", ["required": true, "content": ["application/json": ["schema": body]]]))
    }
    if isFree { members.append(JSONMember("security", .array([]))) }
    return .object(members)
  }

  private static func description(_ status: Int) -> String {
    switch status {
    case 200: "Done"
    case 201: "Made"
    case 204: "Yes"
    case 304: "The client's record is current"
    case 400: "The request is invalid"
    case 401: "A token is missing or unknown"
    case 403: "The token lacks permission, or the store is read-only"
    case 404: "Not found"
    case 409: "Conflict with the stored data"
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
