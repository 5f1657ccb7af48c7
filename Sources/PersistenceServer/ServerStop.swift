import Synchronization

/// A way to ask a running server to stop.
public final class ServerStop: Sendable {
  private enum State {
    case running([@Sendable () async -> Void])
    case asked
  }

  private let state = Mutex(State.running([]))

  /// Makes one that has not been asked.
  public init() {}

  /// Asks the servers that were run with it to stop, those that are run later at once.
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
