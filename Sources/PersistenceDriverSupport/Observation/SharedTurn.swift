import Foundation

/// Work that many threads ask for at the same time, and that one of them does for all.
package final class SharedTurn: Sendable {
  /// Whether a thread does the work, and whether another one has asked since it began.
  private let state = Lock((isTaken: false, isWanted: false))
  /// How often a thread does the work in a row, before it leaves it to one that nobody waits for.
  private static let limit = 2

  /// How long that one pauses before each piece of work at least, in seconds; where the work takes long, since threads wait
  /// for processors, it pauses up to four times as long.
  private let pause: Double
  private static let (mostPauses, share) = (4.0, 8.0)

  /// Makes a turn that nobody has taken.
  ///
  /// - Parameter pause: How many seconds the work waits while one thread after another asks for it, so that it serves
  ///   several of them at once.
  package init(pause: Double = 0) { self.pause = pause }

  /// Does the work, unless a thread is doing it, which then does it once more.
  package func take(_ work: @escaping @Sendable () -> Void) {
    let isMine = state.withLock { state in
      if state.isTaken { state.isWanted = true } else { state.isTaken = true }
      return !state.isWanted
    }
    guard isMine else { return }
    for _ in 0..<Self.limit where isOver(after: work) { return }
    BlockingThread("persistence observers") { [self] in
      var pause = pause
      while true {
        Thread.sleep(forTimeInterval: pause)
        let begin = ContinuousClock.now
        if isOver(after: work) { return }
        let time = (ContinuousClock.now - begin).timeInterval
        pause = min(max(self.pause, time * Self.share), self.pause * Self.mostPauses)
      }
    }
  }

  /// Does the work once; returns whether no thread has asked for it since.
  private func isOver(after work: () -> Void) -> Bool {
    work()
    return state.withLock { state in
      state = (isTaken: state.isWanted, isWanted: false)
      return !state.isTaken
    }
  }
}
