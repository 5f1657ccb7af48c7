import PersistenceDriver
import PersistencePrimitives

/// One operation of the description, under construction.
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

  /// The operation without a token.
  func isOpen() -> Operation { changed { $0.isFree = true } }

  /// The operation with more parameters.
  func parameters(_ more: [JSONValue]) -> Operation { changed { $0.parameters += more } }

  /// The operation with a body.
  func takes(_ schema: JSONValue) -> Operation { changed { $0.body = schema } }

  /// The operation with an answer that has a body, or none.
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

  /// The operation with ways to fail.
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

  /// The operation as one that writes, with the ways in which that can fail.
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
    case 304: "The record is as the client knows it"
    case 400: "The request makes no sense"
    case 401: "A token is missing or unknown"
    case 403: "The token does not suffice, or the store may only be read"
    case 404: "There is none"
    case 409: "It does not fit what is stored"
    case 412: "A condition of the request does not hold"
    case 413: "The body is too long"
    case 415: "The body is not JSON by its type"
    case 422: "The store cannot do or keep that"
    case 503: "The store is busy, or the work took too long"
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
