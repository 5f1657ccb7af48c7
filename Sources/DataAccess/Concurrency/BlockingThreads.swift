import Foundation
import PersistenceDriver
import Synchronization

/// Threads on which contexts are called, which may block: a task that waits for one suspends, so that the threads of
/// the cooperative pool go on with other tasks.
///
/// Threads are started as they are needed, up to a limit, and end after a time without work. Work is begun in the order
/// in which it was asked for.
final class BlockingThreads: Sendable {
  /// The threads of all stores: so many that some may wait for a writer or a disk while others read.
  static let shared = BlockingThreads(limit: max(8, 4 * ProcessInfo.processInfo.activeProcessorCount))

  private let queue: WorkQueue

  init(limit: Int) { queue = WorkQueue(limit: limit) }

  /// Runs a closure on a thread that may block.
  ///
  /// - Parameter body: Is not begun where the task is cancelled before a thread is free.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws, and `cancelled`.
  func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws(PersistenceError) -> Result {
    let ticket = Ticket<Result>(body)
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        ticket.wait(continuation)
        queue.add(ticket.work)
      }
    } onCancel: {
      ticket.cancel()
    }
    return try outcome.get()
  }

  /// One call: it is carried out or cancelled, whichever comes first.
  private final class Ticket<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, PersistenceError>

    private enum State {
      case new
      case waiting(CheckedContinuation<Outcome, Never>)
      case cancelled
      case taken
    }

    private let body: @Sendable () throws -> Value
    private let state = Mutex(State.new)

    init(_ body: @escaping @Sendable () throws -> Value) { self.body = body }

    func wait(_ continuation: CheckedContinuation<Outcome, Never>) {
      let isCancelled = state.withLock { state in
        if case .cancelled = state { return true }
        state = .waiting(continuation)
        return false
      }
      if isCancelled { continuation.resume(returning: .failure(.cancelled())) }
    }

    func cancel() {
      take(orElse: .cancelled)?.resume(returning: .failure(.cancelled()))
    }

    @Sendable
    func work() {
      guard let continuation = take(orElse: nil) else { return }
      continuation.resume(
        returning: Result(catching: body).mapError { PersistenceError(of: $0) })
    }

    private func take(orElse next: State?) -> CheckedContinuation<Outcome, Never>? {
      state.withLock { state in
        guard case .waiting(let continuation) = state else {
          if case .new = state, let next { state = next }
          return nil
        }
        state = .taken
        return continuation
      }
    }
  }
}

/// Work that waits for a thread, and the threads.
private final class WorkQueue: @unchecked Sendable {  // everything is guarded by the condition
  private let condition = NSCondition()
  private let limit: Int
  private var work: [@Sendable () -> Void] = []
  private var begun = 0
  private var threads = 0
  private var idle = 0

  init(limit: Int) { self.limit = limit }

  func add(_ body: @escaping @Sendable () -> Void) {
    condition.lock()
    defer { condition.unlock() }
    work.append(body)
    if idle >= work.count - begun {
      condition.signal()
    } else if threads < limit {
      threads += 1
      let thread = Thread { [self] in serve() }
      thread.name = "persistence.store"
      thread.stackSize = 4 << 20
      thread.start()
    }
  }

  private func serve() {
    while let body = next() { body() }
  }

  private func next() -> (@Sendable () -> Void)? {
    condition.lock()
    defer { condition.unlock() }
    let end = Date(timeIntervalSinceNow: 5)
    while begun == work.count {
      idle += 1
      let isSignalled = condition.wait(until: end)
      idle -= 1
      if !isSignalled, begun == work.count {
        threads -= 1
        return nil
      }
    }
    let body = work[begun]
    begun += 1
    if begun == work.count || begun > 1024 {
      work.removeFirst(begun)
      begun = 0
    }
    return body
  }
}
