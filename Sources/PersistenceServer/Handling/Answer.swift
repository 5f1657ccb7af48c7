import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives

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
