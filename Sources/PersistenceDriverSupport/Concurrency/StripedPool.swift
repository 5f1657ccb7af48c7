import Synchronization

/// A lock-free pool of idle objects, in which a thread prefers the object that it used last.
///
/// Concurrent threads do not contend: each slot has its own cache lines. A last-in, first-out pool would move objects
/// and their memory between cores.
package final class StripedPool<Element: AnyObject & Sendable>: Sendable {
  private struct Slot: ~Copyable {
    let element = Atomic<UnsafeRawPointer?>(nil)
    // Fills two cache lines, because processors fetch them in pairs.
    private let padding: InlineArray<15, UInt64> = .init(repeating: 0)
  }

  private let count: Int
  nonisolated(unsafe) private let slots: UnsafeMutablePointer<Slot>  // atomics must not move
  private let closed = Atomic<Bool>(false)

  /// Creates an empty pool for a maximum number of idle objects, which is at most 4,096.
  package init(count: Int) {
    self.count = max(0, min(count, 4096))
    slots = .allocate(capacity: max(1, self.count))
    for index in 0..<self.count { (slots + index).initialize(to: Slot()) }
  }

  deinit {
    for index in 0..<count { _ = take(at: index) }
    slots.deinitialize(count: count)
    slots.deallocate()
  }

  /// Whether the pool is closed and keeps no more objects.
  package var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// Takes an idle object, preferably the calling thread's last one; nil if there is none.
  package func take() -> Element? {
    let start = ThreadIdentity.current.spread
    for attempt in 0..<count {
      if let element = take(at: (start &+ attempt) % count) { return element }
    }
    return nil
  }

  /// Puts an object of the pool, or a new one, into the pool; returns it if the pool is full or closed.
  package func give(_ element: consuming Element) -> Element? {
    let start = ThreadIdentity.current.spread
    let object = Unmanaged.passRetained(element)
    for attempt in 0..<count {
      let index = (start &+ attempt) % count
      // The load comes first, because an exchange takes the cache line from its owner.
      guard slots[index].element.load(ordering: .relaxed) == nil else { continue }
      let (isPlaced, _) = slots[index].element.compareExchange(
        expected: nil, desired: UnsafeRawPointer(object.toOpaque()), ordering: .sequentiallyConsistent)
      guard isPlaced else { continue }
      // `close()` sets the flag before it empties the slots, so one of the two threads sees the other.
      return closed.load(ordering: .sequentiallyConsistent) ? take(at: index) : nil
    }
    return object.takeRetainedValue()
  }

  /// Takes all idle objects.
  package func drain() -> [Element] {
    var elements: [Element] = []
    // A loop, because unspecialized `compactMap` over a range takes longer than opening a file.
    for index in 0..<count {
      if let element = take(at: index) { elements.append(element) }
    }
    return elements
  }

  /// Closes the pool, and takes all idle objects.
  package func close() -> [Element] {
    closed.store(true, ordering: .sequentiallyConsistent)
    return drain()
  }

  private func take(at index: Int) -> Element? {
    // Not `map`, which is not specialized here and looks its types up.
    guard slots[index].element.load(ordering: .relaxed) != nil,
      let object = slots[index].element.exchange(nil, ordering: .sequentiallyConsistent)
    else { return nil }
    return Unmanaged<Element>.fromOpaque(object).takeRetainedValue()
  }
}
