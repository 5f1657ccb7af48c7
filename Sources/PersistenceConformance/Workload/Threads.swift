import Dispatch
import Foundation
import Synchronization

/// Dedicated threads, because contexts block the calling thread.
enum Threads {
  /// Runs a closure on a number of threads at once, and returns the results in the threads' order.
  ///
  /// - Throws: The error of the first thread that failed, after all threads have ended.
  @discardableResult
  static func run<Success: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Success
  ) throws -> [Success] {
    let results = Mutex<[Int: Result<Success, any Error>]>([:])
    let group = DispatchGroup()
    let start = DispatchSemaphore(value: 0)
    for number in 0..<count {
      group.enter()
      Thread.detachNewThread {
        start.wait()
        let result = Result { try body(number) }
        results.withLock { $0[number] = result }
        group.leave()
      }
    }
    for _ in 0..<count { start.signal() }
    group.wait()
    let all = results.withLock { $0 }
    return try (0..<count).compactMap { try all[$0]?.get() }
  }
}
