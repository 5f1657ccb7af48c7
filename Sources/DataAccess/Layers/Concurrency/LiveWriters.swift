import Foundation
import Synchronization

/// The writers of this process, and the processes of others.
///
/// A number that a later process reuses makes a dead writer look alive, and its keys stay stale until that process has
/// ended too. On another machine, a writer counts as dead.
enum LiveWriters {
  private static let writers = Mutex<Set<UUID>>([])

  /// The number of this process.
  static let process = ProcessInfo.processInfo.processIdentifier

  static func add(_ writer: UUID) { writers.withLock { _ = $0.insert(writer) } }

  static func remove(_ writer: UUID) { writers.withLock { _ = $0.remove(writer) } }

  /// Whether a writer of a process may still be at work.
  static func contain(_ writer: UUID, of process: Int32) -> Bool {
    if process == self.process { return writers.withLock { $0.contains(writer) } }
    // No signal is sent. A process of another user may not be signaled, and exists.
    return process > 0 && (kill(process, 0) == 0 || errno == EPERM)
  }
}
