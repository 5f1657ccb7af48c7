#if HTTP
  import PersistenceDriverSupport
  import Synchronization

  /// Holds a value whose end may block, such as a snapshot on a server, and releases it on a thread of a pool.
  final class ReleasedOnThread<Value: Sendable>: Sendable {
    /// The only lasting reference to the value, so that its last one is released where the place is emptied.
    private final class Place: Sendable {
      let value: Mutex<Value?>

      init(_ value: Value) { self.value = Mutex(value) }

      func empty() {
        // It ends outside the lock.
        let last = value.withLock { $0.take() }
        withExtendedLifetime(last) {}
      }
    }

    private let place: Place
    private let threads: BlockingThreads

    init(_ value: Value, _ threads: BlockingThreads) { (place, self.threads) = (Place(value), threads) }

    /// Never nil before the last reference to this object is released.
    var value: Value? { place.value.withLock(\.self) }

    deinit {
      let place = place
      threads.release { place.empty() }
    }
  }
#endif
