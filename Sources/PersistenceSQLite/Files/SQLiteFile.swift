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

  /// The shared state of a file.
  ///
  /// - Parameters:
  ///   - path: The file's path, without symbolic links.
  ///   - store: The store of the calling context, for connections of a new shared state.
  /// - Returns: The object that all open contexts share.
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
  private struct State {
    var sentinel: SQLiteConnection?
    /// The sentinel's last known data version.
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

  /// Commits on the writing connection, which still excludes other writers.
  ///
  /// SQLite admits the next writer before it returns, so another process may commit before the sentinel's version is
  /// read. The writing connection detects that, since its own data version ignores its own commits.
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
