import PersistenceDriver
import Synchronization
import PersistenceDriverSupport

/// What the contexts of this process that have one file open share: the writers' gate, and those who observe the store.
final class SQLiteFile: Sendable {
  let gate = WriterGate()
  let commits: SQLiteCommits
  let observers: CommitObservers

  fileprivate init(_ store: SQLiteStore) {
    commits = SQLiteCommits(store)
    observers = CommitObservers(outside: commits)
  }
}

/// The files that contexts of this process have open.
enum SQLiteFiles {
  private struct Weak: Sendable {
    weak let file: SQLiteFile?
  }

  private static let files = Mutex<[String: Weak]>([:])

  /// Whether a context of this process has a file open.
  static func isOpen(_ path: String) -> Bool { files.withLock { $0[path]?.file != nil } }

  /// What belongs to a file.
  ///
  /// - Parameters:
  ///   - path: The file's path, without links in it.
  ///   - store: How the first context opened it.
  /// - Returns: The one object of all contexts that are alive.
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
