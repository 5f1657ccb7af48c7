#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import Synchronization

  /// The change feeds of a server, and its limits of event streams.
  ///
  /// A feed begins with the first request for it: without one, writes cost nothing more. The feed of a model that the store
  /// has stays. Clients can invent any number of other models, so the feed of such a model ends with its last request.
  final class ChangeFeeds: Sendable {
    private struct Entry {
      weak var feed: ChangeFeed?
      /// The same feed, if the store has the model.
      var kept: ChangeFeed?
    }

    private struct State {
      var feeds: [StoredName: Entry] = [:]
      var streams = 0
      var streamsOfPeers: [Peer: Int] = [:]
      var signals: [Int: AsyncStream<Void>.Continuation] = [:]
      var lastID = 0
    }

    private let state = Mutex(State())

    /// The feed of a model, by its name in the store.
    ///
    /// - Parameters:
    ///   - model: The name.
    ///   - isStored: Whether the store has the model.
    ///   - context: The store.
    ///   - limit: The maximum number of changes that a feed remembers.
    /// - Returns: The feed, which all requests for the model share while one of them uses it.
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` if the store does not report commits.
    func feed(of model: String, isStored: Bool, in context: any StorageContext, limit: Int) throws
      -> ChangeFeed
    {
      guard context.capabilities.reportsCommits, let observable = context.innermost as? any ObservableContext
      else { throw PersistenceError.unsupported("report changes", by: "the context \(context.location)") }
      let name = StoredName(model)
      return state.withLock { state in
        let known = state.feeds[name]?.feed.flatMap { $0.isGone ? nil : $0 }
        if known == nil { state.feeds = state.feeds.filter { $0.value.feed != nil } }
        let feed = known ?? ChangeFeed(model, observable.observers, limit: limit)
        state.feeds[name] = Entry(feed: feed, kept: isStored ? feed : nil)
        return feed
      }
    }

    /// The permission for one event stream, which ends with the object.
    final class Permit: Sendable {
      private let feeds: ChangeFeeds
      private let peer: Peer

      fileprivate init(_ feeds: ChangeFeeds, _ peer: Peer) { (self.feeds, self.peer) = (feeds, peer) }

      deinit {
        feeds.state.withLock { [peer] state in
          state.streams -= 1
          let count = (state.streamsOfPeers[peer] ?? 1) - 1
          state.streamsOfPeers[peer] = count > 0 ? count : nil
        }
      }
    }

    /// Permits an event stream.
    ///
    /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/busy`` if there are too many.
    func permit(_ peer: Peer, _ limits: ServerLimits) throws -> Permit {
      try state.withLock { state in
        guard state.streams < limits.eventStreams,
          state.streamsOfPeers[peer] ?? 0 < limits.eventStreamsPerPeer
        else {
          throw PersistenceError(.busy, "there are too many event streams; close one, or try again later")
        }
        state.streams += 1
        state.streamsOfPeers[peer, default: 0] += 1
      }
      return Permit(self, peer)
    }

    /// Yields to a continuation when the tokens have changed, until ``removeSignal(_:)``.
    func addSignal(_ signal: AsyncStream<Void>.Continuation) -> Int {
      state.withLock { state in
        state.lastID += 1
        state.signals[state.lastID] = signal
        return state.lastID
      }
    }

    func removeSignal(_ id: Int) { state.withLock { $0.signals[id] = nil } }

    /// Makes all streams check their tokens again.
    func wakeAll() {
      for signal in state.withLock({ Array($0.signals.values) }) { signal.yield() }
    }
  }
#endif
