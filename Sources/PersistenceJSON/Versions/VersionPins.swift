import PersistenceDriver
import Synchronization

/// The versions that processes are reading: a shared lock on byte *v* of a file pins version *v*.
///
/// The kernel releases the locks of a process that dies.
final class VersionPins: Sendable {
  static let name = "pins"
  private let mine: File
  /// A second descriptor of the file, which also detects this process's own pins.
  private let all: File
  private let counts = Mutex<[UInt64: Int]>([:])

  init(mine: File, all: File) {
    self.mine = mine
    self.all = all
  }

  func pin(_ version: UInt64) throws {
    try counts.withLock { counts in
      if counts[version] == nil, try !mine.lock(.shared, byte: version) {
        // A shared lock never has to wait.
        throw SystemFailure("pin a version in", mine.path)
      }
      counts[version, default: 0] += 1
    }
  }

  func release(_ version: UInt64) {
    counts.withLock { counts in
      guard let count = counts[version] else { return }
      if count > 1 {
        counts[version] = count - 1
        return
      }
      counts[version] = nil
      // A lock that cannot be released only keeps old files longer.
      _ = try? mine.lock(.none, byte: version)
    }
  }

  /// The oldest version that any process pins, or a bound if none below it is pinned.
  func oldest(below bound: UInt64) throws -> UInt64 {
    var oldest = bound
    while let byte = try all.lockedByte(below: oldest) { oldest = byte }
    return oldest
  }
}
