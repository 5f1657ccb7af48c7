import PersistenceDriver
import Synchronization
import PersistenceDriverSupport

/// The state that all contexts of one directory in this process share: the observers, and the version that
/// shows commits of other processes.
final class JSONDirectoryCommits: Sendable {
  let counter: CommitCounter
  let observers: CommitObservers

  private init(_ sequence: VersionSequence) {
    counter = CommitCounter { try sequence.committed }
    observers = CommitObservers(outside: counter)
  }

  private struct Identity: Hashable {
    var device: UInt64
    var inode: UInt64
  }

  private struct Weak: Sendable {
    weak let commits: JSONDirectoryCommits?
  }

  private static let known = Mutex<[Identity: Weak]>([:])

  /// The shared state of a store, for all its open contexts.
  static func of(_ store: StoreFolder) -> JSONDirectoryCommits {
    let identity = Identity(device: UInt64(store.root.device), inode: UInt64(store.root.inode))
    return known.withLock { known in
      if let commits = known[identity]?.commits { return commits }
      known = known.filter { $0.value.commits != nil }
      let commits = JSONDirectoryCommits(store.sequence)
      known[identity] = Weak(commits: commits)
      return commits
    }
  }
}
