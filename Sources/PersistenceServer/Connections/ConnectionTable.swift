#if HTTP
  import NIOCore
  import Synchronization

  /// The open connections of a server, and their limits.
  ///
  /// A new connection closes an older one that is doing nothing, so connections that only wait cannot keep others out.
  final class ConnectionTable: Sendable {
    /// How many connections above the limit get a refusal instead of no answer.
    static let surplus = 64

    private struct Entry {
      let connection: Connection
      var phase = Connection.Phase.silent
      /// The number of the last change of phase, of all connections.
      var change: Int
    }

    private struct State {
      var entries: [ObjectIdentifier: Entry] = [:]
      var counts: [Peer: Int] = [:]
      var changes = 0
    }

    private let limit: Int
    private let peerLimit: Int
    private let gauge: ServerGauge
    private let state = Mutex(State())

    init(limit: Int, peerLimit: Int, gauge: ServerGauge) {
      (self.limit, self.peerLimit, self.gauge) = (limit, min(limit, peerLimit), gauge)
    }

    /// Adds a connection; returns nil if there is no room for it.
    func add(_ channel: any Channel) -> Connection? {
      let peer = Peer(channel.remoteAddress)
      let (connection, victim) = state.withLock { state -> (Connection?, (any Channel)?) in
        let isPeerFull = state.counts[peer, default: 0] >= peerLimit
        var victim: Entry?
        if isPeerFull || state.entries.count >= limit {
          victim = Self.leastUseful(in: state, of: isPeerFull ? peer : nil)
        }
        let isSurplus = victim == nil && (isPeerFull || state.entries.count >= limit)
        if isSurplus,
          state.entries.count >= limit + Self.surplus
            || isPeerFull && state.counts[peer, default: 0] >= peerLimit + Self.surplus
        {
          return (nil, nil)
        }
        if let victim { remove(victim.connection, from: &state) }
        let connection = Connection(channel, peer, isSurplus: isSurplus)
        state.changes += 1
        state.entries[ObjectIdentifier(channel)] = Entry(connection: connection, change: state.changes)
        state.counts[peer, default: 0] += 1
        gauge.add(1)
        return (connection, victim?.connection.channel)
      }
      victim?.closeAtOnce()
      return connection
    }

    /// The connection of a channel; nil if it was closed.
    func connection(of channel: any Channel) -> Connection? {
      state.withLock { $0.entries[ObjectIdentifier(channel)]?.connection }
    }

    /// Records what a connection does now.
    func set(_ phase: Connection.Phase, of connection: Connection) {
      guard let id = connection.id else { return }
      state.withLock { state in
        state.changes += 1
        state.entries[id]?.phase = phase
        state.entries[id]?.change = state.changes
      }
    }

    func remove(_ connection: Connection) { state.withLock { remove(connection, from: &$0) } }

    private func remove(_ connection: Connection, from state: inout State) {
      // A connection that was closed for another one is removed twice.
      guard let id = connection.id, state.entries.removeValue(forKey: id) != nil else { return }
      let left = state.counts[connection.peer, default: 1] - 1
      state.counts[connection.peer] = left == 0 ? nil : left
      gauge.add(-1)
    }

    /// The connection to close for a new one: of those that do nothing, one of the peer that has most of them; of
    /// these, a silent one before an idle one, and then the oldest.
    private static func leastUseful(in state: State, of peer: Peer?) -> Entry? {
      var candidates: [Peer: (count: Int, entry: Entry)] = [:]
      for entry in state.entries.values
      where entry.phase < .busy && (peer ?? entry.connection.peer) == entry.connection.peer {
        guard let known = candidates[entry.connection.peer] else {
          candidates[entry.connection.peer] = (1, entry)
          continue
        }
        let isBefore = (entry.phase.rawValue, entry.change) < (known.entry.phase.rawValue, known.entry.change)
        candidates[entry.connection.peer] = (known.count + 1, isBefore ? entry : known.entry)
      }
      return candidates.values.max { $0.count < $1.count }?.entry
    }
  }
#endif
