#if HTTP
  import NIOCore
  import PersistenceDriver
  import Synchronization

  /// A connection of a client, and what it is doing.
  final class Connection: Sendable {
    /// The phases of a connection, in the order in which it may be closed for another one.
    enum Phase: Int, Comparable {
      /// No complete request was received.
      case silent
      /// The last request was answered.
      case idle
      /// A request is being received or answered.
      case busy

      static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
    }

    private struct State {
      var reads: [ObjectIdentifier: ReadInterruption] = [:]
      var isGone = false
    }

    /// The channel; nil for a request of another application's server.
    let channel: (any Channel)?
    let peer: Peer
    /// Whether the server has more connections than it serves: this one gets the health check and refusals only.
    let isSurplus: Bool
    private let state = Mutex(State())
    /// The phase, and above its two bits the number of the change to it.
    private let phaseChange = Atomic<Int>(0)

    init(_ channel: (any Channel)?, _ peer: Peer, isSurplus: Bool) {
      (self.channel, self.peer, self.isSurplus) = (channel, peer, isSurplus)
    }

    /// What the connection does, and the number of the change to that, of all connections.
    var phase: (Phase, change: Int) {
      let known = phaseChange.load(ordering: .relaxed)
      return (Phase(rawValue: known & 3) ?? .busy, known >> 2)
    }

    /// Records what the connection does from now on.
    func set(_ phase: Phase, change: Int) {
      phaseChange.store(change << 2 | phase.rawValue, ordering: .relaxed)
    }

    /// The identity of the channel.
    var id: ObjectIdentifier? { channel.map { ObjectIdentifier($0) } }

    /// Runs a closure whose reads end when the client disconnects.
    func whileConnected<Result>(
      _ interruption: ReadInterruption, _ body: () async throws -> Result
    ) async throws -> Result {
      let isGone = state.withLock { state in
        state.reads[ObjectIdentifier(interruption)] = interruption
        return state.isGone
      }
      defer { state.withLock { _ = $0.reads.removeValue(forKey: ObjectIdentifier(interruption)) } }
      if isGone { interruption.request(Self.gone) }
      return try await body()
    }

    /// Ends the reads of a client that has disconnected.
    func clientHasGone() {
      let reads = state.withLock { state in
        state.isGone = true
        return Array(state.reads.values)
      }
      for read in reads { read.request(Self.gone) }
    }

    private static let gone = PersistenceError(.cancelled, "the client has disconnected")
  }
#endif
