import Foundation
import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives

/// A request as the service sees it: apart from any framework's words.
struct ServedRequest: Sendable {
  /// What is done.
  enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"

    /// Whether a request of this method may change anything.
    var isWriting: Bool { self == .put || self == .delete || self == .post }
  }

  var method: Method
  var path: WirePath
  /// What stands after the question mark.
  var parameters: String?
  /// The body; empty where there is none.
  var body: [UInt8] = []
  var ifMatch: String?
  var ifNoneMatch: String?
  var idempotencyKey: String?
  /// Whether the client asked for records one a line.
  var wantsLines = false

  /// The methods that a path has.
  static func methods(of path: WirePath) -> [Method] {
    switch path {
    case .health, .description, .models: [.get, .head]
    case .model: [.get, .head, .put]
    case .records: [.get, .head, .post]
    case .record: [.get, .head, .put, .delete]
    case .query, .count: [.get, .head, .post]
    case .batches: [.post]
    }
  }

  /// Whether it needs leave to write: queries that are sent as bodies do not.
  var isWriting: Bool {
    switch path {
    case .query, .count: false
    default: method.isWriting
    }
  }

  /// Whether the store is asked: that the server is there it says itself, whatever the store is busy with.
  var needsStore: Bool { path != .health }

  /// Whether the method is one that has a body here.
  var hasBody: Bool { method == .post || method == .put }

  /// The body as JSON.
  func json() throws -> JSONValue {
    do {
      return try body.withUnsafeBytes { try JSONParser.parse($0) }
    } catch let error as JSONSyntaxError {
      throw PersistenceError.invalidRequest("the body is no JSON: \(error)")
    }
  }

  /// The parameters of the URL.
  func parameters(known: Set<String>) throws -> QueryParameters {
    try QueryParameters(parameters.map { $0[...] }, known: known)
  }

  /// The states that the record may be in.
  func wantedTags() throws -> EntityTag.List? {
    try ifMatch.map { try Self.list(EntityTag.List($0), "If-Match") }
  }

  /// The states that the record may not be in.
  func unwantedTags() throws -> EntityTag.List? {
    try ifNoneMatch.map { try Self.list(EntityTag.List($0, matchesWeakly: true), "If-None-Match") }
  }

  private static func list(_ list: EntityTag.List?, _ name: String) throws -> EntityTag.List {
    guard let list else { throw PersistenceError.invalidRequest("the header \(name) is malformed") }
    return list
  }
}
