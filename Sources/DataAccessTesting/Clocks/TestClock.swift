public import Foundation
import Synchronization

/// A clock that only a test advances.
///
/// A task that waits on it sleeps until ``advance(by:)`` passes its deadline, so tests of timeouts and retries
/// are fast and deterministic:
///
/// ```swift
/// async let answer = movies.execute(query)    // waits two seconds between two attempts
/// await clock.sleepers(1)                     // the task sleeps
/// clock.advance(by: .seconds(2))
/// _ = try await answer
/// ```
public final class TestClock: Clock, Sendable {
  /// An instant of the clock.
  public struct Instant: InstantProtocol, Sendable {
    /// The time since the start of the clock.
    public var offset: Duration

    /// The instant after a duration.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The duration from this instant to another.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether one instant is before another.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let deadline: Instant
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct Watcher {
    let count: Int
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var now = Instant(offset: .zero)
    /// The difference between the date and that of the instant.
    var dateOffset = Duration.zero
    var number = 0
    var sleepers: [Int: Sleeper] = [:]
    var watchers: [Watcher] = []

    /// Removes and returns the watchers whose number of sleepers is reached.
    mutating func metWatchers() -> [Watcher] {
      let met = watchers.filter { $0.count <= sleepers.count }
      watchers.removeAll { $0.count <= sleepers.count }
      return met
    }
  }

  private let state = Mutex(State())
  private let beginning: Date

  /// Creates a clock.
  ///
  /// - Parameter beginning: The initial ``date``.
  public init(beginning: Date = Date(timeIntervalSinceReferenceDate: 0)) { self.beginning = beginning }

  /// The current instant.
  public var now: Instant { state.withLock(\.now) }

  /// The current date, for code that measures ages by dates.
  public var date: Date {
    let offset = state.withLock { $0.now.offset + $0.dateOffset }
    return beginning.addingTimeInterval(offset / .seconds(1))
  }

  /// The smallest duration: zero.
  public var minimumResolution: Duration { .zero }

  /// The number of sleeping tasks.
  public var sleeperCount: Int { state.withLock(\.sleepers.count) }

  /// Sleeps until the clock reaches a deadline.
  ///
  /// - Parameters:
  ///   - deadline: The instant to wake at.
  ///   - tolerance: Has no effect.
  /// - Throws: `CancellationError` if the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    let isAwake = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (outcome, watchers) = state.withLock { state -> (Bool?, [Watcher]) in
          if Task.isCancelled { return (false, []) }
          if deadline <= state.now { return (true, []) }
          state.sleepers[number] = Sleeper(deadline: deadline, continuation: continuation)
          return (nil, state.metWatchers())
        }
        for watcher in watchers { watcher.continuation.resume() }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume(returning: false)
    }
    if !isAwake { throw CancellationError() }
  }

  /// Advances the clock, and wakes the sleepers whose deadline has passed, in order.
  ///
  /// - Parameter duration: The duration.
  public func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for number in due.keys { state.sleepers.removeValue(forKey: number) }
      return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value)
    }
    for sleeper in woken { sleeper.continuation.resume(returning: true) }
  }

  /// Changes the ``date`` and not the instant, as if someone set the clock of the device.
  ///
  /// - Parameter duration: The duration; negative to set the date back.
  public func changeDate(by duration: Duration) { state.withLock { $0.dateOffset += duration } }

  /// Waits for a number of sleeping tasks.
  ///
  /// - Parameter count: The minimum number.
  public func sleepers(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isMet = state.withLock { state in
        if state.sleepers.count >= count { return true }
        state.watchers.append(Watcher(count: count, continuation: continuation))
        return false
      }
      if isMet { continuation.resume() }
    }
  }
}
