/// Collects elements for one array, whose size is known only at the end.
///
/// Elements are decoded into chunks of growing size, and moved once. Nothing is retained, and the array has
/// exactly the needed size.
struct ElementChunks<Element>: ~Copyable {
  private static var largest: Int { 4_096 }

  private var chunks: [UnsafeMutableBufferPointer<Element>] = []
  private var capacity: Int

  /// The number of elements.
  private(set) var count = 0

  /// Reserves memory for the first elements.
  init(capacity: Int) { self.capacity = capacity }

  deinit {
    for chunk in chunks {
      chunk.deinitialize()
      chunk.deallocate()
    }
  }

  /// Appends the elements that a closure initializes from the beginning; if it throws, it leaves none.
  ///
  /// Returns whether the chunk is full, so that there may be more.
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

  /// Moves all elements into an array; none remain here.
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
