import Dispatch
import Foundation
import Synchronization

/// Threads of one's own, since contexts block the thread that calls them.
package enum Threads {
  /// Runs a closure on so many threads at once and gives what it returned on each, in the threads' order.
  package static func run<Result: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) -> Result)
    -> [Result]
  {
    let collected = Collected<Result>()
    let group = DispatchGroup()
    let start = DispatchSemaphore(value: 0)
    for number in 0..<count {
      group.enter()
      Thread.detachNewThread {
        start.wait()
        let result = body(number)
        collected.results.withLock { $0[number] = result }
        group.leave()
      }
    }
    for _ in 0..<count { start.signal() }
    group.wait()
    return collected.results.withLock { results in (0..<count).compactMap { results[$0] } }
  }

  private final class Collected<Result: Sendable>: Sendable {
    let results = Mutex<[Int: Result]>([:])
  }
}
