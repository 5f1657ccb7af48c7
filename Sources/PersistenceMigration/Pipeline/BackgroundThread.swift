import Foundation

/// A thread that is waited for: what blocks, as reading a store does, does not belong into a task.
final class BackgroundThread: @unchecked Sendable {  // the closure runs once, before `join` returns
  private let finished = NSCondition()
  private var isFinished = false

  /// Starts a thread.
  init(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread { [self] in
      body()
      finished.lock()
      isFinished = true
      finished.broadcast()
      finished.unlock()
    }
    thread.name = name
    thread.stackSize = 4 << 20
    thread.start()
  }

  /// Waits until the closure has returned.
  func join() {
    finished.lock()
    while !isFinished { finished.wait() }
    finished.unlock()
  }
}
