/// The detection of commits by other processes.
///
/// It is called only while the store has observers, by one thread at a time.
public protocol OutsideCommits: Sendable {
  /// Whether another process has committed since the last call; false for the first call, and the first after
  /// ``reset()``.
  ///
  /// Commits of this process do not count.
  ///
  /// - Throws: ``PersistenceError`` if the store cannot be read.
  func check() throws -> Bool

  /// Releases the resources of ``check()``, because the store has no observers.
  func reset()
}

/// Detects commits of other processes by a number that every commit increases.
///
/// The number is read before and after each commit of this process, while other writers are excluded.
public final class CommitCounter: OutsideCommits {
  private struct State {
    var known: UInt64?
    var hasChanged = false
  }

  private let state = Lock(State())
  private let newest: @Sendable () throws -> UInt64

  /// Creates a counter.
  ///
  /// - Parameter newest: Returns the number of the newest commit by any process.
  public init(newest: @escaping @Sendable () throws -> UInt64) { self.newest = newest }

  /// Whether the number has changed.
  public func check() throws -> Bool {
    try state.withLock { state in
      let newest = try newest()
      defer {
        state.known = newest
        state.hasChanged = false
      }
      guard let known = state.known else { return false }
      return state.hasChanged || known != newest
    }
  }

  /// Commits for this process, while other writers are excluded, so that ``check()`` does not report the commit.
  ///
  /// - Parameter commit: Commits.
  /// - Throws: The closure's error.
  public func committing(_ commit: () throws -> Void) throws {
    try state.withLock { state in
      if let known = state.known, (try? newest()) != known { state.hasChanged = true }
      try commit()
      // If the number cannot be read, the known one is stale, so a later check reports too much, never too little.
      if state.known != nil, let newest = try? newest() { state.known = newest }
    }
  }

  /// Discards the number.
  public func reset() { state.withLock { $0 = State() } }
}
