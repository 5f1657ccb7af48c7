public import Hummingbird
import HTTPTypes
import NIOCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP

extension StoreServer {
  /// Adds the server's routes to the router of your own Hummingbird application, instead of ``run(host:port:endsOnSignals:stop:whenListening:)``.
  ///
  /// ```swift
  /// let router = Router()
  /// try StoreServer(context, tokens: tokens).addRoutes(to: router.group("store"))
  /// let application = Application(router: router)
  /// ```
  ///
  /// Tokens, host names, origins and the limits of requests apply as in a server of its own. Connections belong to the
  /// application: it limits them and their times, compresses and decompresses bodies, and ends at signals. All
  /// clients without a token count as one in ``ServerLimits/readsPerClient``.
  ///
  /// - Parameter router: The router, or a group of it, whose path precedes those of the store.
  /// - Returns: The router.
  @discardableResult
  public func addRoutes<Router: RouterMethods>(to router: Router) -> Router {
    let metrics = ServerMetrics()
    let responder = responder(
      ConnectionTable(limit: 1, peerLimit: 1, gauge: metrics.connections),
      BlockingThreads("server", limit: limits.readingThreads, queueLimit: limits.waitingRequests),
      BlockingThreads("server", limit: 2, queueLimit: limits.waitingRequests), metrics)
    let routes = MountedRoutes(responder: responder, hosts: hosts)
    for method in [HTTPRequest.Method.get, .head, .put, .post, .patch, .delete, .options] {
      router.on("**", method: method) { request, context in
        try await routes.respond(to: request, endpoint: context.endpointPath ?? "")
      }
    }
    return router
  }
}

/// The routes of a store in the router of another application.
private struct MountedRoutes: Sendable {
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
      rest = rest.drop { $0 == UInt8(ascii: "/") }.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    }
    return String(Substring(rest))
  }
}
