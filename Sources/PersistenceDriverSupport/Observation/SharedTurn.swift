import Foundation
import Synchronization

/// Work that many threads ask for at the same time, and that one of them does for all.
///
/// While they ask without end, it pauses, so that it takes a fifth of one thread's time.
package final class SharedTurn: Sendable {
  /// Whether a thread does the work, and whether another one has asked since it began.
  private let state = Mutex((isTaken: false, isWanted: false))
  /// How often a thread does the work in a row, before it leaves it to one that nobody waits for.
  private static let limit = 2
  /// How many times as long as the work the pause after it is.
  ///
  /// The threads that ask go on meanwhile, and need the same cores.
  private static let share = 4
  /// The longest pause, by which those who wait for the work's results are late.
  private static let longestPause = Duration.milliseconds(10)

  package init() {}

  /// Does the work, unless a thread is doing it, which then does it once more.
  package func take(_ work: @escaping @Sendable () -> Void) {
    let isMine = state.withLock { state in
      if state.isTaken { state.isWanted = true } else { state.isTaken = true }
      return !state.isWanted
    }
    if isMine { serve(work) }
  }

  private func serve(_ work: @escaping @Sendable () -> Void) {
    var duration = Duration.zero
    for _ in 0..<Self.limit {
      let start = ContinuousClock.now
      work()
      duration = ContinuousClock.now - start
      let isOver = state.withLock { state in
        state = (isTaken: state.isWanted, isWanted: false)
        return !state.isTaken
      }
      if isOver { return }
    }
    let pause = min(Self.longestPause, duration * Self.share)
    DispatchQueue.global().asyncAfter(deadline: .now() + pause / .seconds(1)) { [self] in serve(work) }
  }
}
