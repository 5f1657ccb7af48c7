import PersistenceDriver
import PersistenceDriverSupport

/// Tells the commits of other processes: a connection that never writes, the sentinel, notices every commit but its own
/// (`PRAGMA data_version`), and each commit of this process takes itself out again.
///
/// It is used under the lock of the file's observers.
final class SQLiteCommits: OutsideCommits {
  private struct State {
    var sentinel: SQLiteConnection?
    /// What the sentinel last said.
    var known: Int64 = 0
    var hasChanged = false
  }

  private let store: SQLiteStore
  private let state = Lock(UncheckedState())

  private struct UncheckedState: @unchecked Sendable {  // the connection is used under the lock only
    var inner = State()
  }

  init(_ store: SQLiteStore) { self.store = store }

  func check() throws -> Bool {
    try state.withLock { state in
      guard let sentinel = state.inner.sentinel else {
        let sentinel = try SQLiteConnection(store)
        try SQLiteOpening.prepareForReading(sentinel)
        state.inner.known = try sentinel.number(.dataVersion)
        state.inner.sentinel = sentinel
        return false
      }
      let version = try sentinel.number(.dataVersion)
      defer {
        state.inner.known = version
        state.inner.hasChanged = false
      }
      return state.inner.hasChanged || version != state.inner.known
    }
  }

  func rest() { state.withLock { $0 = UncheckedState() } }

  /// Commits on the connection that writes, while it keeps other writers out.
  ///
  /// SQLite lets the next writer in before it returns, so that another process may have committed when the sentinel is
  /// asked: that the writing connection notices, to which its own commits are none.
  func committing(on writer: SQLiteConnection, _ commit: () throws -> Void) throws {
    try state.withLock { state in
      guard let sentinel = state.inner.sentinel else { return try commit() }
      if (try? sentinel.number(.dataVersion)) != state.inner.known { state.inner.hasChanged = true }
      let before = try? writer.number(.dataVersion)
      try commit()
      let version = try? sentinel.number(.dataVersion)
      let after = try? writer.number(.dataVersion)
      if let version, let before, before == after {
        state.inner.known = version
      } else {
        state.inner.hasChanged = true
      }
    }
  }
}
