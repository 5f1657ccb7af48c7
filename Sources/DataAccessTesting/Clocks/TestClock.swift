public import Foundation
import Synchronization

/// A clock whose time passes only when a test says so.
///
/// What waits on it sleeps until ``advance(by:)`` has come past its moment, so a test of timeouts and retries takes no
/// time and always goes the same way:
///
/// ```swift
/// async let answer = store.execute(query)     // waits two seconds between two attempts
/// await clock.sleepers(1)                     // it has come to waiting
/// clock.advance(by: .seconds(2))
/// _ = try await answer
/// ```
public final class TestClock: Clock, Sendable {
  /// A moment of the clock: how long after its beginning.
  public struct Instant: InstantProtocol, Sendable {
    /// The time since the clock's beginning.
    public var offset: Duration

    /// The moment so much later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The time from this moment to another.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether one moment is before another.
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
    var number = 0
    var sleepers: [Int: Sleeper] = [:]
    var watchers: [Watcher] = []

    /// Takes out those who wait for so many sleepers.
    mutating func metWatchers() -> [Watcher] {
      let met = watchers.filter { $0.count <= sleepers.count }
      watchers.removeAll { $0.count <= sleepers.count }
      return met
    }
  }

  private let state = Mutex(State())
  private let beginning: Date

  /// Makes a clock.
  ///
  /// - Parameter beginning: What ``date`` is at first.
  public init(beginning: Date = Date(timeIntervalSinceReferenceDate: 0)) { self.beginning = beginning }

  /// The moment that it is.
  public var now: Instant { state.withLock(\.now) }

  /// The moment that it is as a date, for what keeps dates beside durations.
  public var date: Date { beginning.addingTimeInterval(now.offset / .seconds(1)) }

  /// The least time between two moments.
  public var minimumResolution: Duration { .zero }

  /// How many tasks sleep now.
  public var sleeperCount: Int { state.withLock(\.sleepers.count) }

  /// Sleeps until the clock has been advanced so far.
  ///
  /// - Parameters:
  ///   - deadline: The moment to wake at.
  ///   - tolerance: Makes no difference: a sleeper wakes at its moment.
  /// - Throws: `CancellationError` where the task is cancelled.
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

  /// Lets time pass, and wakes whoever sleeps until then, in the order of their moments.
  ///
  /// - Parameter duration: How much time.
  public func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for number in due.keys { state.sleepers.removeValue(forKey: number) }
      return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value)
    }
    for sleeper in woken { sleeper.continuation.resume(returning: true) }
  }

  /// Waits until so many tasks sleep on the clock.
  ///
  /// - Parameter count: How many, at least.
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
