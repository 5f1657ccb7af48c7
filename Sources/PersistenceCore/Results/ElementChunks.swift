/// Elements on their way into one array, whose number is known only at the end.
///
/// They are decoded into chunks of growing size, and moved once: nothing is retained, and the array is as long as it
/// must be.
struct ElementChunks<Element>: ~Copyable {
  private static var largest: Int { 4_096 }

  private var chunks: [UnsafeMutableBufferPointer<Element>] = []
  private var capacity: Int

  /// How many elements there are.
  private(set) var count = 0

  /// Makes room for so many elements at first.
  init(capacity: Int) { self.capacity = capacity }

  deinit {
    for chunk in chunks {
      chunk.deinitialize()
      chunk.deallocate()
    }
  }

  /// Adds what a closure makes.
  ///
  /// - Parameters:
  ///   - limit: How many at most.
  ///   - fill: Initialises elements from the beginning on, and says how many; none are left where it throws.
  /// - Returns: Whether the chunk is full, so that there may be more.
  mutating func append(
    atMost limit: Int, _ fill: (UnsafeMutableBufferPointer<Element>) throws -> Int
  ) rethrows -> Bool {
    guard limit > 0 else { return false }
    let chunk = UnsafeMutableBufferPointer<Element>.allocate(capacity: Swift.min(capacity, limit))
    do {
      let filled = try fill(chunk)
      chunks.append(UnsafeMutableBufferPointer(rebasing: chunk[..<filled]))
      count += filled
      let isFull = filled == chunk.count
      capacity = Swift.min(2 * capacity, Self.largest)
      return isFull
    } catch {
      chunk.deallocate()
      throw error
    }
  }

  /// Moves all elements into an array; none are left here.
  mutating func take() -> ContiguousArray<Element> {
    let chunks = chunks
    self.chunks = []
    return ContiguousArray(unsafeUninitializedCapacity: count) { target, count in
      for chunk in chunks {
        count = target[count...].moveInitialize(fromContentsOf: chunk)
        chunk.deallocate()
      }
    }
  }
}
