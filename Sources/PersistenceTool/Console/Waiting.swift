import Dispatch
import Synchronization

/// Runs work that awaits from a command, which does not.
enum Waiting {
  /// Runs the work, and looks up now and then; where that throws, the work is cancelled and left.
  ///
  /// - Parameters:
  ///   - work: What is awaited.
  ///   - meanwhile: Called a few times a second.
  ///   - finally: Called at the end in any case.
  /// - Returns: What the work returns.
  /// - Throws: What `meanwhile` or `finally` throws.
  static func run<Success: Sendable>(
    _ work: @escaping @Sendable () async -> Success, meanwhile: () throws -> Void,
    finally: () throws -> Void
  ) throws -> Success {
    let result = Result<Success>()
    let done = DispatchSemaphore(value: 0)
    let task = Task.detached {
      let value = await work()
      result.value.withLock { $0 = value }
      done.signal()
    }
    do {
      while done.wait(timeout: .now() + .milliseconds(100)) == .timedOut { try meanwhile() }
    } catch {
      task.cancel()
      try? finally()  // What stopped the work says more.
      throw error
    }
    try finally()
    guard let value = result.value.withLock({ $0 }) else {
      throw ToolFailure.inputOutput("the work ended without a result")
    }
    return value
  }

  private final class Result<Success: Sendable>: Sendable {
    let value = Mutex<Success?>(nil)
  }
}
