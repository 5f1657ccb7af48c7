#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import ServiceLifecycle

  /// The bytes of one event stream, which are read when the client has received the earlier ones.
  final class EventSource: @unchecked Sendable {  // one task at a time uses it
    private let stream: EventStream
    private let responder: StoreResponder
    private let client: StoreResponder.Client
    private let signal: AsyncStream<Void>.Continuation
    private var signals: AsyncStream<Void>.AsyncIterator
    private let changes: Int
    private let revocations: Int
    /// Whether to read without waiting: at first, and after an event that others follow.
    private var mayHaveMore = true
    private var heartbeat = ContinuousClock.now

    init(_ stream: EventStream, _ responder: StoreResponder, _ client: StoreResponder.Client) {
      (self.stream, self.responder, self.client) = (stream, responder, client)
      let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      (self.signal, self.signals) = (signal, signals.makeAsyncIterator())
      // Before the first event is read, so that no commit after it is missed.
      let reader = stream.events.reader
      changes = reader.feed.addSignal(signal, reader.stored, in: reader.store)
      revocations = responder.service.feeds.addSignal(signal)
    }

    deinit {
      stream.events.reader.feed.removeSignal(changes)
      responder.service.feeds.removeSignal(revocations)
    }

    /// The next event or heartbeat; nil at the end.
    func next() async throws -> [UInt8]? {
      let events = stream.events
      while true {
        if !mayHaveMore {
          guard try await wait() else { return nil }
        }
        guard responder.tokens.grant(authorization: stream.authorization).access > .none else { return nil }
        let event = try await responder.readWithinBudget(for: client) { try events.next() }
        mayHaveMore = event != nil && events.hasMore
        guard event != nil || ContinuousClock.now >= heartbeat else { continue }
        heartbeat = .now + responder.service.limits.heartbeatTime
        return event ?? ChangeEvents.heartbeat
      }
    }

    /// Waits for a commit, a change of the tokens, or the time for a heartbeat; false at the end of the stream.
    private func wait() async throws -> Bool {
      let signal = signal
      let timer = DeadlineTimer(after: heartbeat - ContinuousClock.now) { signal.yield() }
      defer { timer.cancel() }
      let interruption = ReadInterruption()
      let disconnection = interruption.whenRequested { _ in signal.finish() }
      defer { interruption.forget(disconnection) }
      return try await client.connection.whileConnected(interruption) {
        await withGracefulShutdownHandler {
          await signals.next() != nil
        } onGracefulShutdown: {
          signal.finish()
        }
      }
    }
  }
#endif
