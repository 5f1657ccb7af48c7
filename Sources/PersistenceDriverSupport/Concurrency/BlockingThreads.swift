import Dispatch
import Foundation
import PersistenceDriver
import Synchronization

/// A pool of threads that may block, so that callers suspend and the cooperative pool stays free.
///
/// The pool starts threads on demand, up to a limit, and ends each one after five idle seconds. Work starts in order of
/// arrival.
package final class BlockingThreads: TaskExecutor, @unchecked Sendable {  // the condition guards the state
  /// The threads of all data sources: enough that some can wait for a writer or a disk while others read.
  package static let shared = BlockingThreads(
    "persistence data source", limit: max(8, 4 * ProcessInfo.processInfo.activeProcessorCount))

  private enum Order { case run, reject }

  private let condition = NSCondition()
  private let name: String
  private let limit: Int
  private let queueLimit: Int
  private var queue: [@Sendable (Order) -> Void] = []
  /// The number of entries at the front of the queue that have started.
  private var started = 0
  private var threads = 0
  private var idle = 0
  private var isClosed = false
  private var closing: [@Sendable () -> Void] = []

  /// Makes a pool of threads with a name; `queueLimit` is the maximum number of calls that wait for a thread.
  package init(_ name: String, limit: Int, queueLimit: Int = .max) {
    (self.name, self.limit, self.queueLimit) = (name, limit, queueLimit)
  }

  /// Runs a closure on a thread of the pool.
  ///
  /// The pool skips the closure if the task is cancelled before a thread is free. If the time limit ends while the
  /// closure runs, the call throws ``PersistenceError/Code/timedOut`` and the closure finishes on its thread. A full
  /// queue throws ``PersistenceError/Code/busy``.
  package func run<Value: Sendable>(
    within time: Duration? = nil, _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let call = Call(body)
    let timer = time.map { time in
      DeadlineTimer(after: time) {
        call.finish(.failure(PersistenceError(.timedOut, "the request took longer than \(time)")))
      }
    }
    defer { timer?.cancel() }
    return try await start(call) { call.cancel() }
  }

  /// Runs a closure on a thread of the pool, until an interruption is requested or the task is cancelled.
  ///
  /// Then the call throws the interruption's error at once, and the closure ends at its next check.
  package func run<Value: Sendable>(
    until interruption: ReadInterruption, _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let call = Call { try interruption.run(body) }
    let handler = interruption.whenRequested { call.finish(.failure($0)) }
    defer { interruption.forget(handler) }
    return try await start(call) {
      interruption.request(PersistenceError(.cancelled, "the call was cancelled"))
    }
  }

  private func start<Value: Sendable>(
    _ call: Call<Value>, onCancel cancel: @escaping @Sendable () -> Void
  ) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard call.wait(continuation) else { return }
        do {
          try add { $0 == .run ? call.run() : call.finish(.failure(self.closed)) }
        } catch {
          call.finish(.failure(error))
        }
      }
    } onCancel: {
      cancel()
    }
  }

  /// Runs a closure that ends something on a thread of the pool, because that may block; now if the pool accepts no work.
  package func release(_ body: @escaping @Sendable () -> Void) {
    do { try add { _ in body() } } catch { body() }
  }

  /// Runs a job of a task whose preferred executor this is.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // Only a closed pool or a full queue rejects work, and executors have neither.
    try? add { _ in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Rejects the calls that wait for a thread, and waits until the others have finished, at most for a time.
  ///
  /// Returns whether all have finished.
  @discardableResult
  package func close(within time: Duration? = nil) async -> Bool {
    let end = Call<Void> {}
    let timer = time.map { time in DeadlineTimer(after: time) { end.finish(.failure(CancellationError())) } }
    defer { timer?.cancel() }
    do {
      try await withCheckedThrowingContinuation { continuation in
        _ = end.wait(continuation)
        condition.lock()
        isClosed = true
        let rejected = queue[started...]
        (queue, started) = ([], 0)
        let isOver = threads == 0
        if !isOver { closing.append { end.run() } }
        condition.broadcast()
        condition.unlock()
        for work in rejected { work(.reject) }
        if isOver { end.run() }
      }
      return true
    } catch {
      return false
    }
  }

  private var closed: PersistenceError { .closed("the \(name)") }

  private func add(_ work: @escaping @Sendable (Order) -> Void) throws(PersistenceError) {
    let isNew = try queue(work)
    // A thread that was woken under the lock would wait for it at once.
    guard isNew else { return condition.signal() }
    BlockingThread(name) { [self] in
      while let work = next() { work(.run) }
    }
  }

  /// Adds work to the queue; returns whether it needs a new thread, which counts from now on.
  private func queue(_ work: @escaping @Sendable (Order) -> Void) throws(PersistenceError) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    if isClosed { throw closed }
    guard queue.count - started < queueLimit else {
      throw PersistenceError(.busy, "too many requests wait for a thread; try again later")
    }
    queue.append(work)
    guard idle < queue.count - started, threads < limit else { return false }
    threads += 1
    return true
  }

  /// The next work for a thread; nil if the thread must end.
  private func next() -> (@Sendable (Order) -> Void)? {
    condition.lock()
    let end = Date(timeIntervalSinceNow: 5)
    while started == queue.count, !isClosed {
      idle += 1
      let isSignalled = condition.wait(until: end)
      idle -= 1
      if !isSignalled { break }
    }
    guard started == queue.count else {
      defer { condition.unlock() }
      let work = queue[started]
      started += 1
      if started == queue.count || started > 1024 {
        queue.removeFirst(started)
        started = 0
      }
      return work
    }
    threads -= 1
    var closing: [@Sendable () -> Void] = []
    if isClosed, threads == 0 { swap(&closing, &self.closing) }
    condition.unlock()
    for end in closing { end() }
    return nil
  }

  /// One call, which resumes its caller exactly once.
  private final class Call<Value: Sendable>: Sendable {
    typealias Continuation = CheckedContinuation<Value, any Error>

    private enum State {
      case new
      case waiting(Continuation)
      case running(Continuation)
      case finished(Result<Value, any Error>?)
    }

    private let body: @Sendable () throws -> Value
    private let state = Mutex(State.new)

    init(_ body: @escaping @Sendable () throws -> Value) { self.body = body }

    /// Sets the continuation; false if the call was cancelled before, and is over.
    func wait(_ continuation: Continuation) -> Bool {
      let early = state.withLock { state -> Result<Value, any Error>? in
        if case .finished(let result) = state { return result }
        state = .waiting(continuation)
        return nil
      }
      guard let early else { return true }
      continuation.resume(with: early)
      return false
    }

    func run() {
      let mayRun = state.withLock { state in
        guard case .waiting(let continuation) = state else { return false }
        state = .running(continuation)
        return true
      }
      if mayRun { finish(Result(catching: body)) }
    }

    /// Cancels a call that waits for a thread; a running call continues.
    func cancel() {
      let continuation = state.withLock { state -> Continuation? in
        switch state {
        case .new:
          state = .finished(.failure(CancellationError()))
          return nil
        case .waiting(let continuation):
          state = .finished(nil)
          return continuation
        case .running, .finished: return nil
        }
      }
      continuation?.resume(throwing: CancellationError())
    }

    func finish(_ result: Result<Value, any Error>) {
      let continuation = state.withLock { state -> Continuation? in
        switch state {
        case .new:
          state = .finished(result)
          return nil
        case .waiting(let continuation), .running(let continuation):
          state = .finished(nil)
          return continuation
        case .finished: return nil
        }
      }
      continuation?.resume(with: result)
    }
  }
}
