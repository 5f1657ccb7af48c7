#if HTTP
  public import Hummingbird
  import HTTPTypes
  import PersistenceDriverSupport

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
#endif
