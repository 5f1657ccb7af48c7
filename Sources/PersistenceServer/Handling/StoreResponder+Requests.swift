#if HTTP
  import HTTPTypes
  import Hummingbird
  import PersistenceDriver
  import PersistenceHTTP

  /// What a request must have, and what it accepts, apart from its path.
  extension StoreResponder {
    /// The problem of a request that ``RequestGuard`` has marked; nil if it has not.
    static func refusal(of request: Request) -> Problem? {
      guard let name = HeaderNames.refusalMark,
        let refusal = request.headers[name].flatMap({ RequestGuard.Refusal(rawValue: $0) })
      else { return nil }
      return switch refusal {
      case .version: Problem(status: 505, .unsupported, "the server speaks HTTP/1.1 and HTTP/1.0")
      case .host: Problem(status: 400, .invalidRequest, "a request must have one valid Host header")
      case .otherHost:
        Problem(status: 421, .unauthorized, "the server does not have the name in the Host header")
      case .coding: Problem(status: 501, .unsupported, "the only Transfer-Encoding is chunked")
      case .expectation: Problem(status: 417, .unsupported, "the only expectation is 100-continue")
      }
    }

    static let tooManyConnections = Problem(
      status: 503, .busy, "the server has too many connections; try again later")

    static func noPath(_ path: Substring) -> Problem {
      let isMalformed = path.split(separator: "/").contains { PathSegment.text($0) == nil }
      return isMalformed
        ? Problem(status: 400, .invalidRequest, "an escape in the path is malformed, or not UTF-8")
        : Problem(status: 404, .notFound, "the server has no such path")
    }
  }

  extension ServiceRequest {
    /// Reads the headers that the answer depends on: each takes a search, so only those of the path and the method.
    mutating func read(_ headers: HTTPFields) {
      ifMatch = headers[.ifMatch]
      ifNoneMatch = headers[.ifNoneMatch]
      if isWriting { idempotencyKey = HeaderNames.idempotencyKey.flatMap { headers[$0] } }
      switch path {
      case .record: break
      case .events: lastEventID = HeaderNames.lastEventID.flatMap { headers[$0] }
      default:
        prefer = HeaderNames.prefer.flatMap { headers[$0] }
        wantsLines = headers[.accept].map { MediaRanges($0).preferLines } ?? false
      }
    }
  }

  /// The names of headers that are read or written with every request, checked once.
  enum HeaderNames {
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")
    static let prefer = HTTPField.Name("Prefer")
    static let lastEventID = HTTPField.Name("Last-Event-ID")
    static let contentTypeOptions = HTTPField.Name("X-Content-Type-Options")
    static let refusalMark = HTTPField.Name(RequestGuard.mark)
    static let compressionMark = HTTPField.Name(RequestGuard.compressionMark)
  }

  /// The media types that a client accepts, with their qualities (RFC 9110, 12.5.1).
  struct MediaRanges {
    private var qualities: [String: Double] = [:]

    init(_ accept: String) {
      for range in accept.split(separator: ",") {
        let parts = range.split(separator: ";").map { $0.trimmingPrefix(while: \.isWhitespace).lowercased() }
        guard let type = parts.first?.split(separator: " ").first else { continue }
        let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
        qualities[String(type)] = quality
      }
    }

    /// Whether the client wants one record per line: only one that names this type does, and not less than JSON.
    var preferLines: Bool {
      guard let lines = qualities["application/x-ndjson"], lines > 0 else { return false }
      return lines >= qualities["application/json"] ?? 0
    }
  }
#endif
