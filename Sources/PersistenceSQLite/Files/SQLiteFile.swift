import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// State that all contexts of this process share for one file: the writers' gate and the observers.
final class SQLiteFile: Sendable {
  let gate = WriterGate()
  let commits: SQLiteCommits
  let observers: CommitObservers

  fileprivate init(_ store: SQLiteStore) {
    commits = SQLiteCommits(store)
    observers = CommitObservers(outside: commits)
  }
}

/// The files that this process's contexts have open.
enum SQLiteFiles {
  private struct Weak: Sendable {
    weak let file: SQLiteFile?
  }

  private static let files = Mutex<[String: Weak]>([:])

  /// Whether a context of this process has a file open.
  static func isOpen(_ path: String) -> Bool { files.withLock { $0[path]?.file != nil } }

  /// The state that all open contexts of a file share; a new one opens connections of the given store.
  static func file(at path: String, _ store: SQLiteStore) -> SQLiteFile {
    files.withLock { files in
      if let known = files[path]?.file { return known }
      files = files.filter { $0.value.file != nil }
      let file = SQLiteFile(store)
      files[path] = Weak(file: file)
      return file
    }
  }
}

/// Detects commits by other processes.
///
/// A connection that never writes, the sentinel, sees every commit by another connection (`PRAGMA data_version`). Each
/// commit of this process updates the known version, so that only other processes' commits count.
final class SQLiteCommits: OutsideCommits {
  private struct State: @unchecked Sendable {  // the connection is used under the lock only
    var sentinel: SQLiteConnection?
    /// The sentinel's last known data version.
    var known: Int64 = 0
    var hasChanged = false
  }

  private let store: SQLiteStore
  private let state = Lock(State())

  init(_ store: SQLiteStore) { self.store = store }

  func check() throws -> Bool {
    try state.withLock { state in
      guard let sentinel = state.sentinel else {
        let sentinel = try SQLiteConnection(store)
        try SQLiteOpening.prepareForReading(sentinel)
        state.known = try sentinel.number(.dataVersion)
        state.sentinel = sentinel
        return false
      }
      let version = try sentinel.number(.dataVersion)
      defer {
        state.known = version
        state.hasChanged = false
      }
      return state.hasChanged || version != state.known
    }
  }

  func reset() { state.withLock { $0 = State() } }

  /// Commits on the writing connection, which still excludes other writers.
  ///
  /// SQLite admits the next writer before it returns, so another process may commit before the sentinel's version is
  /// read. The writing connection detects that, since its own data version ignores its own commits.
  func committing(on writer: SQLiteConnection, _ commit: () throws -> Void) throws {
    try state.withLock { state in
      guard let sentinel = state.sentinel else { return try commit() }
      if (try? sentinel.number(.dataVersion)) != state.known { state.hasChanged = true }
      let before = try? writer.number(.dataVersion)
      try commit()
      let version = try? sentinel.number(.dataVersion)
      let after = try? writer.number(.dataVersion)
      if let version, let before, before == after {
        state.known = version
      } else {
        state.hasChanged = true
      }
    }
  }
}
