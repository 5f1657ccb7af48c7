import Foundation
import Synchronization

/// A migration under way in a thread of its own: how far it has come as an asynchronous sequence, and what it did in
/// the end.
///
/// ```swift
/// let running = migration.start()
/// for try await progress in running { bar.show(progress) }
/// let report = try await running.report
/// ```
///
/// Cancelling the task that iterates or that waits for the report, or calling ``cancel()``, stops the migration at the
/// next batch with a `CancellationError`; it can be resumed. A sequence that is iterated slowly misses steps, never
/// the newest one; who iterates only wants to know how far the work has come.
public final class RunningMigration: AsyncSequence, Sendable {
  /// One step.
  public typealias Element = MigrationProgress

  private let stream: AsyncThrowingStream<MigrationProgress, any Error>
  private let stops = Atomic<Bool>(false)
  private let state = Mutex(State())

  private struct State {
    var result: Result<MigrationReport, any Error>?
    var waiting: [CheckedContinuation<MigrationReport, any Error>] = []
  }

  init(_ migration: Migration) {
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: MigrationProgress.self, bufferingPolicy: .bufferingNewest(16))
    self.stream = stream
    continuation.onTermination = { [weak self] reason in
      if case .cancelled = reason { self?.cancel() }
    }
    // The thread holds the object: a migration that nobody looks at goes on.
    _ = BackgroundThread("persistence migration") { [self] in
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

  /// Stops the migration at the next batch, so that it can be resumed; one that has ended is not changed.
  public func cancel() { stops.store(true, ordering: .relaxed) }

  /// Whether the migration was told to stop.
  public var isCancelled: Bool { stops.load(ordering: .relaxed) }

  /// What the migration did, once it has ended.
  ///
  /// - Throws: What it was stopped by; `CancellationError` where it was cancelled.
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

  /// The steps from now on; they can be iterated once.
  public func makeAsyncIterator() -> AsyncThrowingStream<MigrationProgress, any Error>.AsyncIterator {
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
  /// Starts the migration in a thread of its own, since reading and writing stores block.
  ///
  /// - Returns: The migration under way.
  public func start() -> RunningMigration { RunningMigration(self) }
}
