import PersistenceDriver
import Synchronization

/// Which versions are being read, by the processes that read them: a shared lock on byte *v* of a file pins
/// version *v*.
///
/// The kernel drops the locks of a process that dies.
final class VersionPins: Sendable {
  static let name = "pins"
  private let mine: File
  /// Another opening of the same file, to which this process's own pins are as foreign as any.
  private let all: File
  private let counts = Mutex<[UInt64: Int]>([:])

  init(mine: File, all: File) {
    self.mine = mine
    self.all = all
  }

  /// Pins a version.
  func pin(_ version: UInt64) throws {
    try counts.withLock { counts in
      if counts[version] == nil, try !mine.lock(.shared, byte: version) {
        // Only shared locks are ever taken here.
        throw SystemFailure("pin a version in", mine.path)
      }
      counts[version, default: 0] += 1
    }
  }

  /// Gives a pinned version back.
  func release(_ version: UInt64) {
    counts.withLock { counts in
      guard let count = counts[version] else { return }
      if count > 1 {
        counts[version] = count - 1
        return
      }
      counts[version] = nil
      // A lock that cannot be dropped only keeps old files for longer.
      _ = try? mine.lock(.none, byte: version)
    }
  }

  /// The oldest version that is pinned by anybody, or a bound where none below it is.
  func oldest(below bound: UInt64) throws -> UInt64 {
    var oldest = bound
    while let byte = try all.lockedByte(below: oldest) { oldest = byte }
    return oldest
  }
}
