import Foundation
import PersistenceCore
import PersistenceDriver
import Synchronization

/// Stops calls of a layer for some time after it was out of reach.
final class CircuitBreaker: Sendable {
  private let pause: Duration?
  private let message: String
  private let failed = Mutex<Date?>(nil)

  init(_ layer: DataSourceLayer, pause: Duration?) {
    self.pause = pause
    message =
      "the \(layer.rawValue) layer was out of reach less than \(pause ?? .zero) ago and was not called"
  }

  /// The error of a call that is not made; nil if the layer may be called.
  func refusal(at now: Date) -> PersistenceError? {
    guard let pause, let date = failed.withLock({ $0 }) else { return nil }
    let seconds = now.timeIntervalSince(date)
    // After a change of the clock, the layer may be called.
    guard seconds >= 0, Duration.seconds(seconds) < pause else { return nil }
    return PersistenceError(.unreachable, message)
  }

  /// Whether an error says that the layer was not called.
  func isRefusal(_ error: PersistenceError) -> Bool { error.message == message }

  /// Records that a read of the layer failed.
  func record(_ error: PersistenceError, at now: Date) {
    if error.code == .cancelled { return }
    failed.withLock { $0 = [.unreachable, .timedOut].contains(error.code) ? now : nil }
  }

  /// Lets reads call the layer, which has answered.
  func close() { failed.withLock { $0 = nil } }
}
