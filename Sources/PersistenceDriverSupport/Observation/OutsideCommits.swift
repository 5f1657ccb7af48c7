/// How an engine tells that another process has committed to its store, as far as it can.
///
/// It is asked while somebody observes the store only, and by one thread at a time.
public protocol OutsideCommits: Sendable {
  /// Whether another process has committed since the last time this was asked; false the first time, and the first
  /// time after ``rest()``.
  ///
  /// The commits of this process do not count: what commits them takes them out while other writers are kept out.
  ///
  /// - Throws: ``PersistenceError`` where the store cannot be asked.
  func check() throws -> Bool

  /// Lets go of whatever is held for ``check()``: nobody observes the store any more.
  func rest()
}

/// Tells the commits of other processes by a number that every commit increases, and that can be read at any time.
///
/// The engine reads it before and after a commit of its own, while it keeps other writers out.
public final class CommitCounter: OutsideCommits {
  private struct State {
    var known: UInt64?
    var hasChanged = false
  }

  private let state = Lock(State())
  private let newest: @Sendable () throws -> UInt64

  /// Makes a counter.
  ///
  /// - Parameter newest: Gives the number of the newest commit of any process.
  public init(newest: @escaping @Sendable () throws -> UInt64) { self.newest = newest }

  /// Whether the number is another one than was last known.
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

  /// Commits for this process, while other writers are kept out, and takes the commit out of what ``check()`` tells.
  ///
  /// - Parameter commit: Commits.
  /// - Throws: What the closure throws.
  public func committing(_ commit: () throws -> Void) throws {
    try state.withLock { state in
      if let known = state.known, (try? newest()) != known { state.hasChanged = true }
      try commit()
      // Where it cannot be read, what is known stays behind: too much is told then, never too little.
      if state.known != nil, let newest = try? newest() { state.known = newest }
    }
  }

  /// Forgets the number.
  public func rest() { state.withLock { $0 = State() } }
}
