#if HTTP
  import NIOCore
  import PersistenceDriverSupport
  import Synchronization

  /// The open connections of a server, and their limits.
  ///
  /// A new connection closes an older one that is doing nothing, so connections that only wait cannot keep others out.
  final class ConnectionTable: Sendable {
    /// How many connections above the limit get a refusal instead of no answer.
    static let surplus = 64

    private struct State {
      var connections: [ObjectIdentifier: Connection] = [:]
      var counts: [Peer: Int] = [:]
    }

    private let limit: Int
    private let peerLimit: Int
    private let gauge: ServerGauge
    /// Each request passes this lock.
    private let state = Lock(State())
    /// The number of the last change of phase, of all connections.
    private let changes = Atomic<Int>(0)

    init(limit: Int, peerLimit: Int, gauge: ServerGauge) {
      (self.limit, self.peerLimit, self.gauge) = (limit, min(limit, peerLimit), gauge)
    }

    /// Adds a connection; returns nil if there is no room for it.
    func add(_ channel: any Channel) -> Connection? {
      let peer = Peer(channel.remoteAddress)
      let (connection, victim) = state.withLock { state -> (Connection?, (any Channel)?) in
        let isPeerFull = state.counts[peer, default: 0] >= peerLimit
        var victim: Connection?
        if isPeerFull || state.connections.count >= limit {
          victim = Self.leastUseful(in: state, of: isPeerFull ? peer : nil)
        }
        let isSurplus = victim == nil && (isPeerFull || state.connections.count >= limit)
        if isSurplus,
          state.connections.count >= limit + Self.surplus
            || isPeerFull && state.counts[peer, default: 0] >= peerLimit + Self.surplus
        {
          return (nil, nil)
        }
        if let victim { remove(victim, from: &state) }
        let connection = Connection(channel, peer, isSurplus: isSurplus)
        set(.silent, of: connection)
        state.connections[ObjectIdentifier(channel)] = connection
        state.counts[peer, default: 0] += 1
        gauge.add(1)
        return (connection, victim?.channel)
      }
      victim?.closeAtOnce()
      return connection
    }

    /// The connection of a channel; nil if it was closed.
    func connection(of channel: any Channel) -> Connection? {
      state.withLock { $0.connections[ObjectIdentifier(channel)] }
    }

    /// Records what a connection does now: twice with each request, so without the lock.
    func set(_ phase: Connection.Phase, of connection: Connection) {
      connection.set(phase, change: changes.add(1, ordering: .relaxed).newValue)
    }

    func remove(_ connection: Connection) { state.withLock { remove(connection, from: &$0) } }

    private func remove(_ connection: Connection, from state: inout State) {
      // A connection that was closed for another one is removed twice.
      guard let id = connection.id, state.connections.removeValue(forKey: id) != nil else { return }
      let left = state.counts[connection.peer, default: 1] - 1
      state.counts[connection.peer] = left == 0 ? nil : left
      gauge.add(-1)
    }

    /// The connection to close for a new one: of those that do nothing, one of the peer that has most of them; of
    /// these, a silent one before an idle one, and then the oldest.
    private static func leastUseful(in state: State, of peer: Peer?) -> Connection? {
      var candidates: [Peer: (count: Int, first: (Int, Int), connection: Connection)] = [:]
      for connection in state.connections.values where (peer ?? connection.peer) == connection.peer {
        let (phase, change) = connection.phase
        guard phase < .busy else { continue }
        let place = (phase.rawValue, change)
        guard let known = candidates[connection.peer] else {
          candidates[connection.peer] = (1, place, connection)
          continue
        }
        let isBefore = place < known.first
        candidates[connection.peer] = (
          known.count + 1, isBefore ? place : known.first, isBefore ? connection : known.connection
        )
      }
      return candidates.values.max { $0.count < $1.count }?.connection
    }
  }
#endif
