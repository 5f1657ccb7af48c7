#if HTTP
  import HTTPTypes

  /// The origins whose web pages may use a server from a browser (CORS).
  struct AllowedOrigins: Sendable {
    private let origins: Set<String>

    init(_ origins: [String]) { self.origins = Set(origins.map { $0.lowercased() }) }

    private static let methods = "GET, HEAD, POST, PUT, PATCH, DELETE"
    private static let requestHeaders =
      "Authorization, Content-Type, Accept, If-Match, If-None-Match, Idempotency-Key, Prefer, Last-Event-ID"
    private static let answerHeaders =
      "ETag, Location, Link, Allow, Retry-After, WWW-Authenticate, Content-Range"
    /// How long a browser may remember the answer to a preflight request: a day, in seconds.
    private static let memory = "86400"

    /// The headers that let a web page read the answer to a request; none for other origins.
    func headers(for request: HTTPRequest) -> [(String, String)] {
      guard !origins.isEmpty else { return [] }
      guard let origin = request.headerFields[.origin] else { return [("Vary", "Origin")] }
      if origins.contains("*") {
        return [("Access-Control-Allow-Origin", "*"), ("Access-Control-Expose-Headers", Self.answerHeaders)]
      }
      guard origins.contains(origin.lowercased()) else { return [("Vary", "Origin")] }
      return [
        ("Access-Control-Allow-Origin", origin), ("Vary", "Origin"),
        ("Access-Control-Expose-Headers", Self.answerHeaders),
      ]
    }

    /// The answer to a browser that asks before its request (preflight); nil for any other request.
    ///
    /// It needs no token, because a browser sends none, and it reveals nothing of the store.
    func preflight(_ request: HTTPRequest) -> Answer? {
      guard !origins.isEmpty, request.method == .options, request.headerFields[.origin] != nil,
        request.headerFields[.accessControlRequestMethod] != nil
      else { return nil }
      var answer = Answer(status: 204)
      guard headers(for: request).contains(where: { $0.0 == "Access-Control-Allow-Origin" }) else {
        return answer
      }
      answer.headers = [
        ("Access-Control-Allow-Methods", Self.methods), ("Access-Control-Allow-Headers", Self.requestHeaders),
        ("Access-Control-Max-Age", Self.memory),
      ]
      return answer
    }
  }
#endif
