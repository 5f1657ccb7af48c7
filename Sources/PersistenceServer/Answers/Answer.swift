import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives

/// What a request is answered with, before it is put into the framework's words.
struct Answer: Sendable {
  /// What the body is.
  enum Body: Sendable {
    /// None.
    case none
    /// JSON, as it stands.
    case json(String)
    /// JSON of a problem.
    case problem(String)
    /// Records, one a line, as they are read.
    case lines(RecordLines)
  }

  var status: Int
  var headers: [(name: String, value: String)] = []
  var body = Body.none

  /// An answer of JSON.
  static func json(_ value: JSONValue, status: Int = 200) -> Answer {
    Answer(status: status, body: .json(JSONText.canonical(value)))
  }

  /// An answer of one record.
  static func record(_ line: String, status: Int = 200) -> Answer {
    Answer(status: status, headers: [("ETag", EntityTag(ofLine: line).text)], body: .json(line))
  }

  /// The answer that a problem is.
  static func problem(_ problem: Problem) -> Answer {
    var answer = Answer(status: problem.status, body: .problem(JSONText.canonical(problem.json)))
    switch problem.status {
    case 401: answer.headers.append(("WWW-Authenticate", "Bearer"))
    case 503: answer.headers.append(("Retry-After", "1"))
    default: break
    }
    return answer
  }
}
