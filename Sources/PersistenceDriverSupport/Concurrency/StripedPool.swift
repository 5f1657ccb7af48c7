import Synchronization

/// Objects between two uses, each where the thread that used it last finds it again.
///
/// Threads that work at once share nothing here: no lock is taken, and each place has its cache lines for itself. A
/// pool that hands out whatever came back last would move an object, and all that it keeps, from core to core.
package final class StripedPool<Element: AnyObject & Sendable>: Sendable {
  private struct Place: ~Copyable {
    let element = Atomic<UnsafeRawPointer?>(nil)
    // Two cache lines, since processors fetch them in pairs.
    private let padding: InlineArray<15, UInt64> = .init(repeating: 0)
  }

  private let count: Int
  nonisolated(unsafe) private let places: UnsafeMutablePointer<Place>  // atomics, which are never moved
  private let closed = Atomic<Bool>(false)

  /// Makes places.
  ///
  /// - Parameter count: How many objects are kept at most.
  package init(count: Int) {
    self.count = max(0, count)
    places = .allocate(capacity: max(1, count))
    for index in 0..<self.count { (places + index).initialize(to: Place()) }
  }

  deinit {
    for index in 0..<count { _ = take(at: index) }
    places.deinitialize(count: count)
    places.deallocate()
  }

  /// Whether nothing is taken back any more.
  package var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// Takes an object that nobody uses: the calling thread's, or another; nil if there is none.
  package func take() -> Element? {
    let start = ThreadIdentity.current.spread
    for attempt in 0..<count {
      if let element = take(at: (start &+ attempt) % count) { return element }
    }
    return nil
  }

  /// Puts an object back.
  ///
  /// - Parameter element: An object that was taken, or a new one.
  /// - Returns: An object for which there was no place, or nil.
  package func give(_ element: Element) -> Element? {
    let start = ThreadIdentity.current.spread
    let object = Unmanaged.passRetained(element)
    for attempt in 0..<count {
      let index = (start &+ attempt) % count
      // Looked at first, since an exchange takes the cache line from whoever has it.
      guard places[index].element.load(ordering: .relaxed) == nil else { continue }
      let (isPlaced, _) = places[index].element.compareExchange(
        expected: nil, desired: UnsafeRawPointer(object.toOpaque()), ordering: .sequentiallyConsistent)
      guard isPlaced else { continue }
      // Who closes empties the places after having said so: one of the two sees the other.
      return closed.load(ordering: .sequentiallyConsistent) ? take(at: index) : nil
    }
    return object.takeRetainedValue()
  }

  /// Takes all objects that nobody uses.
  package func drain() -> [Element] {
    var elements: [Element] = []
    // A loop: the library's way to do it is not compiled for the range, and would take longer than opening a file.
    for index in 0..<count {
      if let element = take(at: index) { elements.append(element) }
    }
    return elements
  }

  /// Takes all objects, and takes none back any more.
  ///
  /// - Returns: The objects that nobody used.
  package func close() -> [Element] {
    closed.store(true, ordering: .sequentiallyConsistent)
    return drain()
  }

  private func take(at index: Int) -> Element? {
    guard places[index].element.load(ordering: .relaxed) != nil else { return nil }
    return places[index].element.exchange(nil, ordering: .sequentiallyConsistent).map {
      Unmanaged<Element>.fromOpaque($0).takeRetainedValue()
    }
  }
}
