import Dispatch
import Foundation
import Synchronization

/// A thread whose sleeping state is visible, to show that it waits.
final class WaitingThread: Sendable {
  private struct State {
    var identity: String?
    var isOver = false
  }

  private let state = Mutex(State())

  /// Starts the thread, which leaves the group when the closure returns.
  init(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    Thread.detachNewThread {
      self.state.withLock { $0.identity = Self.current }
      body()
      self.state.withLock { $0.isOver = true }
      group.leave()
    }
  }

  /// Waits until the closure has returned, or the operating system reports several times in a row that the
  /// thread sleeps.
  ///
  /// If the system does not report it, it waits a moment.
  func waitUntilAsleepOrOver() throws {
    var sightings = 0
    for _ in 0..<10_000 where sightings < 8 {
      usleep(1000)
      let state = state.withLock { $0 }
      if state.isOver { return }
      guard let identity = state.identity else { continue }
      guard let status = Self.status(identity) else {
        usleep(50_000)
        return
      }
      sightings = status == "S" ? sightings + 1 : 0
    }
    guard sightings == 8 else { throw WaitingError() }
  }

  private struct WaitingError: Error {}

  /// The thread's folder in `/proc`; empty if there is none.
  private static var current: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? ""
  }

  /// The thread's state in `/proc`, as a letter; nil if there is none.
  private static func status(_ identity: String) -> Character? {
    guard let text = try? String(contentsOfFile: "/proc/\(identity)/stat", encoding: .utf8),
      let name = text.lastIndex(of: ")")
    else { return nil }
    return text[text.index(after: name)...].first { $0 != " " }
  }
}
