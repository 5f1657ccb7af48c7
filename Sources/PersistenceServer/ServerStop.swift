#if HTTP
  import Synchronization

  /// Stops a running server on request.
  public final class ServerStop: Sendable {
    private enum State {
      case running([@Sendable () async -> Void])
      case asked
    }

    private let state = Mutex(State.running([]))

    /// Creates a stop request that has not been made.
    public init() {}

    /// Stops the servers that run with it now, and those that start later.
    public func ask() {
      let waiting = state.withLock { state -> [@Sendable () async -> Void] in
        guard case .running(let waiting) = state else { return [] }
        state = .asked
        return waiting
      }
      for body in waiting { Task { await body() } }
    }

    func whenAsked(_ body: @escaping @Sendable () async -> Void) {
      let isAsked = state.withLock { state in
        guard case .running(let waiting) = state else { return true }
        state = .running(waiting + [body])
        return false
      }
      if isAsked { Task { await body() } }
    }
  }
#endif
