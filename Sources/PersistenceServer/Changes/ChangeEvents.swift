#if HTTP
  import PersistenceDriver
  import Synchronization

  /// The server-sent events of one stream.
  ///
  /// It keeps only a position, and reads changes when the client has received the earlier ones. The changes of a slow
  /// client are coalesced, and one that falls behind the remembered changes gets the event `reset`.
  final class ChangeEvents: Sendable {
    private struct State {
      var position: Checkpoint?
      var isFirst = true
      var hasMore = false
    }

    let reader: ChangeReader
    private let limit: Int
    private let sizeLimit: Int
    private let state: Mutex<State>

    init(_ reader: ChangeReader, since: Checkpoint?, limit: Int, sizeLimit: Int) {
      (self.reader, self.limit, self.sizeLimit) = (reader, limit, sizeLimit)
      state = Mutex(State(position: since))
    }

    /// Whether further changes are known.
    var hasMore: Bool { state.withLock(\.hasMore) }

    /// The next event; nil if nothing has changed since the last one.
    ///
    /// The first event always comes.
    func next() throws -> [UInt8]? {
      var state = self.state.withLock(\.self)
      let part = try reader.read(since: state.position, limit: limit, sizeLimit: sizeLimit)
      if part.isEmpty, !part.isReset, !state.isFirst { return nil }
      state.position = part.checkpoint
      state.hasMore = part.hasMore
      state.isFirst = false
      self.state.withLock { [state] in $0 = state }
      let name = part.isReset ? "reset" : "changes"
      return Array("id: \(part.checkpoint.token)\nevent: \(name)\ndata: ".utf8) + part.json + [10, 10]
    }

    /// A comment, which shows that the connection lives.
    static let heartbeat = Array(":\n\n".utf8)
  }
#endif
