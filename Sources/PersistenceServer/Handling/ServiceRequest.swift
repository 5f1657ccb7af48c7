import PersistenceHTTP

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
