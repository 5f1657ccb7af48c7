import Foundation
import PersistenceCore
import PersistenceDriver
import Synchronization

/// Stops calls of a layer for some time after it was out of reach.
final class CircuitBreaker: Sendable {
  private let layer: DataSourceLayer
  private let pause: Duration?
  private let failed = Mutex<Date?>(nil)

  init(_ layer: DataSourceLayer, pause: Duration?) { (self.layer, self.pause) = (layer, pause) }

  /// The error of a call that is not made; nil if the layer may be called.
  func refusal(at now: Date) -> PersistenceError? {
    guard let pause, let date = failed.withLock({ $0 }) else { return nil }
    let seconds = now.timeIntervalSince(date)
    // After a change of the clock, the layer may be called.
    guard seconds >= 0, Duration.seconds(seconds) < pause else { return nil }
    return PersistenceError(
      .unreachable, "the \(layer.rawValue) layer was out of reach less than \(pause) ago and was not called")
  }

  /// Records the outcome of a call; nil for success.
  func record(_ error: PersistenceError?, at now: Date) {
    if pause == nil || error?.code == .cancelled { return }
    let isOut = error.map { [.unreachable, .timedOut].contains($0.code) } ?? false
    failed.withLock { $0 = isOut ? now : nil }
  }
}
