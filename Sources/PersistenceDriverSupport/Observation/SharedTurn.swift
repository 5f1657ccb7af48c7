import Foundation

/// Work that many threads ask for at the same time, and that one of them does for all.
package final class SharedTurn: Sendable {
  /// Whether a thread does the work, and whether another one has asked since it began.
  private let state = Lock((isTaken: false, isWanted: false))
  /// How often a thread does the work in a row, before it leaves it to one that nobody waits for.
  private static let limit = 2

  /// How long that one pauses before each piece of work, in seconds.
  private let pause: Double

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
      repeat { Thread.sleep(forTimeInterval: pause) } while !isOver(after: work)
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
