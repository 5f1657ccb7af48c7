import NIOHTTP1
import PersistenceDriver
import PersistenceHTTP

/// An answer that is not what was asked for.
struct RemoteFailure: Error {
  /// The error that it stands for.
  let error: PersistenceError

  /// An answer where a server of this package should have answered.
  ///
  /// Such a server says what went wrong in a problem. Anything else comes from what stands between, which knows nothing of
  /// records: that a proxy has no page under a path, while the server is being exchanged, does not mean that a record is
  /// gone, nor that a change met another state than it began with.
  init(ofStore reply: RemoteClient.Reply, at location: String) {
    self.init(reply, at: location) { status in
      let code: PersistenceError.Code =
        switch status {
        case 401, 403: .unauthorized
        // The request itself is too long for what stands between, however often it is sent.
        case 413: .valueTooLarge
        case 414, 431: .invalidRequest
        default: Self.codeOfAnyServer(status) ?? .unreachable
        }
      let advice =
        code == .unreachable
        ? ", which did not come from a server of stores; check the URL, or try again later" : ""
      return (code, "the answer has the status \(status)\(advice)")
    }
  }

  /// An answer of another server, whose statuses mean what they mean in HTTP.
  init(ofOther reply: RemoteClient.Reply, at location: String) {
    self.init(reply, at: location) { status in
      let code: PersistenceError.Code =
        switch status {
        case 401, 403: .unauthorized
        case 404, 410: .notFound
        case 409, 412: .conflict
        case 413: .valueTooLarge
        default: Self.codeOfAnyServer(status) ?? .invalidRequest
        }
      return (code, "the server answered with the status \(status)")
    }
  }

  /// What the answer's problem says or, where it has none, its status.
  private init(
    _ reply: RemoteClient.Reply, at location: String,
    byStatus meaning: (Int) -> (code: PersistenceError.Code, message: String)
  ) {
    if let problem = reply.problem {
      error = problem.error(at: location)
    } else {
      let (code, message) = meaning(reply.status)
      error = PersistenceError(code, message, location: location)
    }
  }

  /// What a status means, whoever answers with it.
  private static func codeOfAnyServer(_ status: Int) -> PersistenceError.Code? {
    switch status {
    case 408, 504: .timedOut
    case 429: .busy
    // A proxy says so too where the connection behind it breaks off: what was asked may have been done.
    case 502, 503: .unreachable
    case 500...: .engineFailure
    default: nil
    }
  }
}

extension RemoteClient.Reply {
  /// Whether the body is said to be of a media type.
  func isOf(type wanted: String) -> Bool {
    let type = headers.first(name: "Content-Type")?.prefix { $0 != ";" && $0 != " " }
    return type?.lowercased() == wanted
  }

  /// The problem that a server of this package answers with; nil where the answer is none.
  fileprivate var problem: Problem? {
    guard isOf(type: Problem.mediaType), let json = try? json() else { return nil }
    return Problem(json, status: status)
  }
}
