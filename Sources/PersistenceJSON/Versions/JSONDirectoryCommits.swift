import PersistenceDriver
import Synchronization
import PersistenceDriverSupport

/// The state that all contexts of one directory in this process share: the observers, and the version that
/// shows commits of other processes.
final class JSONDirectoryCommits: Sendable {
  let counter: CommitCounter
  let observers: CommitObservers
  private let sequences: Sequences

  /// The version numbers, read through any open context: closed ones keep no file open.
  private final class Sequences: Sendable {
    private struct Weak: Sendable {
      weak let sequence: VersionSequence?
    }

    private let known = Mutex<[Weak]>([])

    func add(_ sequence: VersionSequence) {
      known.withLock { known in
        known.removeAll { $0.sequence == nil }
        known.append(Weak(sequence: sequence))
      }
    }

    var committed: UInt64 {
      get throws {
        guard let sequence = known.withLock({ $0.lazy.compactMap(\.sequence).first }) else {
          throw PersistenceError.closed("the JSON directory")
        }
        return try sequence.committed
      }
    }
  }

  private init() {
    let sequences = Sequences()
    self.sequences = sequences
    counter = CommitCounter { try sequences.committed }
    observers = CommitObservers(ofOneWriter: counter)
  }

  private struct Identity: Hashable {
    var device: UInt64
    var inode: UInt64
    /// The file of the version numbers: a new store may have the inode of a removed one.
    var sequence: FileIdentity
  }

  private struct Weak: Sendable {
    weak let commits: JSONDirectoryCommits?
  }

  private static let known = Mutex<[Identity: Weak]>([:])

  /// The shared state of a store, for all its open contexts.
  static func of(_ store: StoreFolder) -> JSONDirectoryCommits {
    let identity = Identity(
      device: UInt64(store.root.device), inode: UInt64(store.root.inode), sequence: store.sequence.identity)
    let commits = known.withLock { known in
      if let commits = known[identity]?.commits { return commits }
      known = known.filter { $0.value.commits != nil }
      let commits = JSONDirectoryCommits()
      known[identity] = Weak(commits: commits)
      return commits
    }
    commits.sequences.add(store.sequence)
    return commits
  }
}
