import NIOCore
import NIOPosix
import PersistenceDriver
import Synchronization

/// Threads on which contexts are called, which block: event loops never wait for them.
final class WorkThreads: Sendable {
  private let pool: NIOThreadPool
  private let limit: Int
  private let waiting = Mutex(0)
  private let clock = MultiThreadedEventLoopGroup.singleton

  init(threads: Int, waiting limit: Int) {
    self.limit = limit
    pool = NIOThreadPool(numberOfThreads: threads)
    pool.start()
  }

  /// Ends the threads when their work is done.
  func shutDown() async throws { try await pool.shutdownGracefully() }

  /// Runs a closure on one of the threads.
  ///
  /// - Parameters:
  ///   - time: How long the caller waits. A closure that has begun is finished all the same, on its thread; one that
  ///     has not is never begun.
  ///   - body: The work.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws, ``PersistenceError/Code/busy`` where too many wait already, and
  ///   ``PersistenceError/Code/timedOut``.
  func run<Value: Sendable>(within time: Duration, _ body: @escaping @Sendable () throws -> Value)
    async throws
    -> Value
  {
    let isAdmitted = waiting.withLock { waiting in
      guard waiting < limit else { return false }
      waiting += 1
      return true
    }
    guard isAdmitted else { throw PersistenceError(.busy, "too many requests wait for a thread") }
    return try await withCheckedThrowingContinuation { continuation in
      let call = Call(continuation)
      let deadline = clock.any().scheduleTask(in: TimeAmount(time)) {
        call.finish(.failure(PersistenceError(.timedOut, "the request took longer than \(time)")))
      }
      pool.submit { state in
        self.waiting.withLock { $0 -= 1 }
        guard state == .active else {
          call.finish(.failure(PersistenceError.closed("the server")))
          return deadline.cancel()
        }
        guard !call.isOver else { return }
        call.finish(Result { try body() })
        deadline.cancel()
      }
    }
  }

  /// One call, which is answered once.
  private final class Call<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, any Error>?>

    init(_ continuation: CheckedContinuation<Value, any Error>) { self.continuation = Mutex(continuation) }

    var isOver: Bool { continuation.withLock { $0 == nil } }

    func finish(_ result: Result<Value, any Error>) {
      let waiting = continuation.withLock { continuation in
        defer { continuation = nil }
        return continuation
      }
      waiting?.resume(with: result)
    }
  }
}
