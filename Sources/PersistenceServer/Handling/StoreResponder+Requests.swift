import HTTPTypes
import Hummingbird
import PersistenceDriver
import PersistenceHTTP

/// What a request must have, and what it accepts, apart from its path.
extension StoreResponder {
  /// The problem of a request that ``RequestGuard`` has marked; nil if it has not.
  static func refusal(of request: Request) -> Problem? {
    guard let name = HTTPField.Name(RequestGuard.mark),
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
