#if HTTP
  import HTTPTypes
  import Hummingbird
  import NIOCore
  import PersistenceDriver
  import PersistenceHTTP

  /// The routes of a store in the router of another application.
  struct MountedRoutes: Sendable {
    let responder: StoreResponder
    let hosts: HostNames

    func respond(to request: Request, endpoint: String) async throws -> Response {
      let connection = Connection(nil, Peer(nil), isSurplus: false)
      var head = request.head
      for mark in [RequestGuard.mark, RequestGuard.compressionMark] {
        if let name = HTTPField.Name(mark) { head.headerFields[name] = nil }
      }
      head.path = Self.path(head.path ?? "", below: endpoint)
      let inner = Request(head: head, body: request.body)
      var response: Response
      if let problem = problem(of: inner) {
        response = responder.response(.problem(problem), to: inner, of: StoreResponder.Client(connection))
      } else {
        response = try await responder.respond(to: inner, of: connection)
      }
      if let name = HTTPField.Name(RequestGuard.compressionMark) { response.headers[name] = nil }
      return response
    }

    /// The problem of a request that the handlers of a connection would refuse or change.
    private func problem(of request: Request) -> Problem? {
      guard hosts.contains(request.head.authority ?? "") else {
        return Problem(status: 421, .unauthorized, "the server does not have the name in the Host header")
      }
      guard (request.headers[.contentEncoding] ?? "identity").lowercased() == "identity" else {
        return Problem(status: 415, .invalidRequest, "the Content-Encoding of the body must be identity")
      }
      return nil
    }

    /// The part of a target that a route's `**` matches, with the query.
    ///
    /// It drops as many segments as the route has before `**`; like the router, it ignores empty ones among these.
    private static func path(_ target: String, below endpoint: String) -> String {
      var rest = target[...].utf8
      for _ in endpoint.split(separator: "/").dropLast() {
        rest = rest.drop { $0 == UInt8(ascii: "/") }.drop {
          $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?")
        }
      }
      return String(Substring(rest))
    }
  }
#endif
