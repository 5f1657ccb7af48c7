import Dispatch
import Foundation

/// The actor on which a subscriber receives, without keeping it alive: a sink is often stored in its actor.
struct Recipient: @unchecked Sendable {  // a weak reference that never changes
  /// The actor; nil for any thread, and if it is gone.
  private(set) weak var actor: (any Actor)?
  private let isBound: Bool

  init(_ actor: (any Actor)?) {
    self.actor = actor
    isBound = actor != nil
  }

  /// The recipient of a subscription that begins now.
  ///
  /// Swift infers that a closure in main-actor code is isolated to the main actor, and stops the program if it runs
  /// elsewhere. Such a closure can only subscribe on the main thread.
  var ofSubscription: Recipient { isBound || !MainQueue.isCurrent ? self : Recipient(MainActor.shared) }

  /// Whether there was an actor that no longer exists.
  var isGone: Bool { isBound && actor == nil }
}

/// The queue of the main actor.
private enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// Whether the caller runs on it, which on Linux is not always the main thread.
  static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: key) == true }
}
