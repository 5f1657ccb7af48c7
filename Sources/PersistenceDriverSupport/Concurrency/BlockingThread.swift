import Foundation

/// One dedicated thread for work that blocks, which a caller can join.
package final class BlockingThread: @unchecked Sendable {  // the condition guards the state
  private let finished = NSCondition()
  private var isFinished = false

  @discardableResult
  package init(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread { [self] in
      // On Linux, a thread has the system's name of the one that starts it until it sets its own.
      Thread.current.name = name
      body()
      finished.lock()
      isFinished = true
      finished.broadcast()
      finished.unlock()
    }
    thread.stackSize = 8 << 20  // that of a main thread, for deep predicates
    thread.start()
  }

  /// Blocks until the closure has returned.
  package func join() {
    finished.lock()
    while !isFinished { finished.wait() }
    finished.unlock()
  }

  /// Runs a closure on a thread of its own, and suspends until it returns.
  package static func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result = await withCheckedContinuation { continuation in
      BlockingThread("persistence call") {
        do throws(Failure) {
          continuation.resume(returning: Result<Value, Failure>.success(try body()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }
}
