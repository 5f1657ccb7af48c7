import Foundation
import Synchronization

/// The date for ages: it never goes back, so that no age is less than the time that has passed.
///
/// If someone sets the clock of the device back, the date goes on with a monotonic clock. If someone sets it forward,
/// the date follows, and ages are too high rather than too low.
final class SteadyDate: Sendable {
  private let elapsed: @Sendable () -> Duration
  private let clockDate: @Sendable () -> Date
  /// A moment of the monotonic clock and its date.
  private let anchor: Mutex<(elapsed: Duration, date: Date)>

  /// Creates a date.
  ///
  /// - Parameters:
  ///   - clock: The monotonic clock.
  ///   - date: Returns the date of the device's clock.
  init(_ clock: any Clock<Duration>, date: @escaping @Sendable () -> Date) {
    elapsed = Self.stopwatch(clock)
    clockDate = date
    anchor = Mutex((.zero, date()))
  }

  /// The current date.
  func now() -> Date {
    let (elapsed, date) = (elapsed(), clockDate())
    return anchor.withLock { anchor in
      let steady = anchor.date.addingTimeInterval((elapsed - anchor.elapsed) / .seconds(1))
      if date <= steady { return steady }
      anchor = (elapsed, date)
      return date
    }
  }

  private static func stopwatch<Base: Clock>(_ clock: Base) -> @Sendable () -> Duration
  where Base.Duration == Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }
}
