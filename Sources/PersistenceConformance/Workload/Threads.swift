import Dispatch
import Foundation
import Synchronization

/// Threads of one's own, since contexts block the thread that calls them.
package enum Threads {
  /// Runs a closure on so many threads at once and gives what it returned on each, in the threads' order.
  ///
  /// - Throws: What the closure threw on the first thread where it did, once all are over.
  package static func run<Success: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Success
  ) throws -> [Success] {
    let collected = Collected<Success>()
    let group = DispatchGroup()
    let start = DispatchSemaphore(value: 0)
    for number in 0..<count {
      group.enter()
      Thread.detachNewThread {
        start.wait()
        let result = Result { try body(number) }
        collected.results.withLock { $0[number] = result }
        group.leave()
      }
    }
    for _ in 0..<count { start.signal() }
    group.wait()
    let results = collected.results.withLock { $0 }
    return try (0..<count).compactMap { try results[$0]?.get() }
  }

  private final class Collected<Success: Sendable>: Sendable {
    let results = Mutex<[Int: Result<Success, any Error>]>([:])
  }
}
