import Foundation
import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives

/// A request, independent of the HTTP framework.
struct ServiceRequest: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"

    /// Whether the method can change data.
    var isWriting: Bool { self == .put || self == .patch || self == .delete || self == .post }
  }

  var method: Method
  var path: WirePath
  var parameters: String?
  /// The body; empty if there is none.
  var body: [UInt8] = []
  var ifMatch: String?
  var ifNoneMatch: String?
  /// The header Prefer (RFC 7240).
  var prefer: String?
  var idempotencyKey: String?
  /// The checkpoint of the last event that a client received (Last-Event-ID).
  var lastEventID: String?
  /// The header Authorization.
  var authorization: String?
  /// Whether the client accepts one record per line.
  var wantsLines = false

  static func methods(of path: WirePath) -> [Method] {
    switch path {
    case .health, .ready, .metrics, .description, .models, .changes, .events: [.get, .head]
    case .model: [.get, .head, .put]
    case .records: [.get, .head, .post]
    case .record: [.get, .head, .put, .patch, .delete]
    case .query, .count: [.get, .head, .post]
    case .batches: [.post]
    case .schema: [.put]
    }
  }

  /// Whether the request needs permission to write.
  ///
  /// A query in a body does not, nor does the schema of a client.
  var isWriting: Bool {
    switch path {
    case .query, .count, .schema: false
    default: method.isWriting
    }
  }

  /// Whether the request needs the store.
  ///
  /// A health check does not, so it works while the store is busy.
  var needsStore: Bool { path != .health && path != .metrics }

  var hasBody: Bool { method == .post || method == .put || method == .patch }
}

/// The body, parameters and tags of a request.
extension ServiceRequest {
  func json() throws -> JSONValue {
    do {
      return try body.withUnsafeBytes { try JSONParser.parse($0) }
    } catch let error as JSONSyntaxError {
      throw PersistenceError.invalidRequest("the body is not valid JSON: \(error)")
    }
  }

  func parameters(known: Set<String>) throws -> QueryParameters {
    try QueryParameters(parameters.map { $0[...] }, known: path.takesSchema ? known.union(["schema"]) : known)
  }

  /// The digests of the client's schemas, that of the path's model first; nil if the request has none.
  func schemaDigests() throws -> [String]? {
    guard path.takesSchema, let parameters, parameters.contains("schema") else { return nil }
    return try QueryParameters(parameters[...], known: nil)["schema"]
      .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
  }

  /// The tags of the If-Match header, one of which the stored record must have.
  func ifMatchTags() throws -> EntityTag.List? {
    try ifMatch.map { try Self.list(EntityTag.List($0), "If-Match") }
  }

  /// The tags of the If-None-Match header, none of which the stored record may have.
  func ifNoneMatchTags() throws -> EntityTag.List? {
    try ifNoneMatch.map { try Self.list(EntityTag.List($0, matchesWeakly: true), "If-None-Match") }
  }

  private static func list(_ list: EntityTag.List?, _ name: String) throws -> EntityTag.List {
    guard let list else { throw PersistenceError.invalidRequest("the header \(name) is malformed") }
    return list
  }
}

/// The answer to a request, independent of the HTTP framework.
struct Answer: Sendable {
  enum Body: Sendable {
    case none
    case json(String)
    case problem(String)
    case text(String)
    /// Bytes of a media type, which are read as the client receives them.
    case stream(type: String, any AnswerStream)
    case events(EventStream)
  }

  var status: Int
  var headers: [(name: String, value: String)] = []
  var body = Body.none
  /// Whether the answer may be sent compressed: not one whose entity tag is that of its exact bytes.
  var isCompressible = false
  /// The code of a problem, for metrics.
  var error: PersistenceError.Code?

  static func json(_ value: JSONValue, status: Int = 200) -> Answer {
    Answer(status: status, body: .json(JSONText.canonical(value)), isCompressible: true)
  }

  static func record(_ line: String, status: Int = 200) -> Answer {
    Answer(status: status, headers: [("ETag", EntityTag(ofLine: line).text)], body: .json(line))
  }

  static func problem(_ problem: Problem) -> Answer {
    var answer = Answer(status: problem.status, body: .problem(JSONText.canonical(problem.json)))
    answer.error = problem.code
    switch problem.status {
    case 401: answer.headers.append(("WWW-Authenticate", "Bearer"))
    case 503: answer.headers.append(("Retry-After", "1"))
    default: break
    }
    return answer
  }
}
