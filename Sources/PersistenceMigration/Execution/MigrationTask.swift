import Foundation
public import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// A migration that runs on its own thread: an asynchronous sequence of its progress, and its report.
///
/// ```swift
/// let task = migration.start()
/// for try await progress in task { bar.show(progress) }
/// let report = try await task.report
/// ```
///
/// To stop the migration, call ``cancel()``, or cancel the task that iterates or awaits the report. The migration stops
/// after the current batch with a `CancellationError` and can be resumed. A slow consumer misses intermediate progress,
/// never the latest.
public final class MigrationTask: AsyncSequence, Sendable {
  /// The element of the sequence.
  public typealias Element = StoreProgress

  private let stream: AsyncThrowingStream<StoreProgress, any Error>
  private let cancellation = Atomic<Bool>(false)
  private let state = Mutex(State())

  private struct State {
    var result: Result<MigrationReport, any Error>?
    var waiting: [CheckedContinuation<MigrationReport, any Error>] = []
  }

  init(_ migration: Migration) {
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: StoreProgress.self, bufferingPolicy: .bufferingNewest(16))
    self.stream = stream
    continuation.onTermination = { [weak self] reason in
      if case .cancelled = reason { self?.cancel() }
    }
    // The thread retains the task, so that an unobserved migration continues.
    BlockingThread("persistence migration") { [self] in
      let result = Result<MigrationReport, any Error> {
        try migration.run { progress in
          if isCancelled { throw CancellationError() }
          continuation.yield(progress)
        }
      }
      finish(result)
      switch result {
      case .success: continuation.finish()
      case .failure(let error): continuation.finish(throwing: error)
      }
    }
  }

  /// Stops the migration after the current batch; it can be resumed.
  ///
  /// Has no effect on a finished migration.
  public func cancel() { cancellation.store(true, ordering: .relaxed) }

  /// Whether the migration was cancelled.
  public var isCancelled: Bool { cancellation.load(ordering: .relaxed) }

  /// The report of the finished migration.
  ///
  /// - Throws: The error that stopped the migration, or `CancellationError` if it was cancelled.
  public var report: MigrationReport {
    get async throws {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let result = state.withLock { state in
            if state.result == nil { state.waiting.append(continuation) }
            return state.result
          }
          if let result { continuation.resume(with: result) }
        }
      } onCancel: {
        cancel()
      }
    }
  }

  /// The progress from now on; supports one iteration.
  public func makeAsyncIterator() -> AsyncThrowingStream<StoreProgress, any Error>.AsyncIterator {
    stream.makeAsyncIterator()
  }

  private func finish(_ result: Result<MigrationReport, any Error>) {
    let waiting = state.withLock { state in
      state.result = result
      defer { state.waiting.removeAll() }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(with: result) }
  }
}

extension Migration {
  /// Starts the migration on its own thread, because reading and writing stores block.
  ///
  /// - Returns: The running migration.
  public func start() -> MigrationTask { MigrationTask(self) }
}
