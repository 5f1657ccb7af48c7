#if HTTP
  import Hummingbird
  import NIOCore
  import PersistenceDriver

  /// An answer of server-sent events.
  struct EventStream: Sendable {
    let events: ChangeEvents
    let permit: ChangeFeeds.Permit
    /// The header with the token, which may be revoked.
    let authorization: String?
  }

  extension StoreResponder {
    /// Starts an event stream.
    func events(of model: String, _ request: ServiceRequest, _ client: Client) async throws -> Answer {
      let permit = try service.feeds.permit(client.connection.peer, service.limits)
      let events = try await read(for: client) {
        try service.context.requireComplete()
        return try service.events(model, request)
      }
      let stream = EventStream(events: events, permit: permit, authorization: request.authorization)
      // Proxies must not collect events.
      return Answer(status: 200, headers: [("X-Accel-Buffering", "no")], body: .events(stream))
    }

    /// Sends events until the client has gone, its token is revoked, or the server stops.
    func body(_ stream: EventStream, _ client: Client) -> ResponseBody {
      let released = ReleasedOnThread(stream, reading)
      return ResponseBody { [self] writer in
        guard let stream = released.value else { return }
        let source = EventSource(stream, self, client)
        do {
          while let bytes = try await source.next() {
            let share = BudgetShare(budget, bytes.count)
            // It suspends until the client has received most of the earlier events.
            try await writer.write(ByteBuffer(bytes: bytes))
            share.end()
          }
        } catch let error as PersistenceError {
          report(error)
          throw error
        }
        try await writer.finish(nil)
      }
    }
  }
#endif
