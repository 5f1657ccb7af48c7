import Synchronization

/// Something that happens once.
final class Flag: Sendable {
  private let isSet = Atomic<Bool>(false)

  /// Sets it; says whether it was set before.
  func set() -> Bool { isSet.exchange(true, ordering: .acquiringAndReleasing) }
}
