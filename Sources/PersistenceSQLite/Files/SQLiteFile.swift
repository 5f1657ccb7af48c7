import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

extension FileIdentity {
  init(_ status: stat) { self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) }
}

/// State that all contexts of this process share for one file: the writers' gate and the observers.
final class SQLiteFile: Sendable {
  let gate = WriterGate()
  let commits: SQLiteCommits
  let observers: CommitObservers

  fileprivate init(_ store: SQLiteStore) {
    commits = SQLiteCommits(store)
    observers = CommitObservers(ofOneWriter: commits)
  }
}

/// The files that this process's contexts have open.
enum SQLiteFiles {
  private struct Weak: Sendable {
    weak let file: SQLiteFile?
  }

  /// A path, and the file that it led to: contexts of a removed file may still be open.
  private struct Key: Hashable {
    let path: String
    let identity: FileIdentity?

    init(_ store: SQLiteStore) {
      // A file that the opening created may have its name in another spelling.
      path = store.isPathReal ? store.path : SQLiteOpening.realPath(store.path) ?? store.path
      identity = store.identity
    }
  }

  private static let files = Mutex<[Key: Weak]>([:])

  /// Whether a context of this process has a store's file open.
  static func isOpen(_ store: SQLiteStore) -> Bool {
    let key = Key(store)
    return files.withLock { $0[key]?.file != nil }
  }

  /// The state that all open contexts of a file share; a new one opens connections of the given store.
  static func file(of store: SQLiteStore) -> SQLiteFile {
    let key = Key(store)
    return files.withLock { files in
      if let known = files[key]?.file { return known }
      // Most programs open few files, so closed ones are removed when they are many.
      if files.count >= 16 { files = files.filter { $0.value.file != nil } }
      let file = SQLiteFile(store)
      files[key] = Weak(file: file)
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
    /// The sentinel's last known data version; nil before the first.
    var known: Int64?
    /// Whether another process may have committed, apart from what the version shows.
    var hasChanged = false
  }

  private let store: SQLiteStore
  private let state = Lock(State())

  init(_ store: SQLiteStore) { self.store = store }

  func check() throws -> Bool {
    try state.withLock { state in
      let sentinel = try state.sentinel ?? SQLiteOpening.sentinel(of: store)
      state.sentinel = sentinel
      guard let version = try version(sentinel) else {
        // The next check detects what the writer commits, by the known version if there is one.
        if state.known == nil { state.hasChanged = true }
        return false
      }
      defer {
        state.known = version
        state.hasChanged = false
      }
      return state.hasChanged || state.known.map { $0 != version } ?? false
    }
  }

  /// The data version of the sentinel; nil while a writer of any process locks it out.
  private func version(_ sentinel: SQLiteConnection) throws -> Int64? {
    do {
      return try sentinel.number(.dataVersion)
    } catch let error as PersistenceError where error.code == .busy {
      return nil
    }
  }

  func reset() { state.withLock { $0 = State() } }

  /// Records commits of other processes, when a transaction has just excluded further ones.
  ///
  /// Later, a transaction that has spilled into a file with a rollback journal locks the sentinel out.
  func begin() {
    state.withLock { state in
      guard let sentinel = state.sentinel else { return }
      if (try? version(sentinel)) != state.known { state.hasChanged = true }
    }
  }

  /// Commits on the writing connection, which has excluded other writers since ``begin()``.
  ///
  /// SQLite admits the next writer before it returns, so another process may commit before the sentinel's version is
  /// read. The writing connection detects that, since its own data version ignores its own commits.
  func committing(on writer: SQLiteConnection, _ commit: () throws -> Void) throws {
    try state.withLock { state in
      guard let sentinel = state.sentinel else { return try commit() }
      let before = try? writer.number(.dataVersion)
      try commit()
      let version = try? sentinel.number(.dataVersion)
      let after = try? writer.number(.dataVersion)
      if let version, let before, before == after, state.known != nil {
        state.known = version
      } else {
        state.hasChanged = true
      }
    }
  }
}
