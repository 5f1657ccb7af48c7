import PersistenceDriver

/// Entries in memory, to be sorted by their keys.
///
/// Writing to a tree in order touches each page once and fills it; in the order in which rows come, most of the
/// time of making an index goes into finding pages.
package struct EntryBatch {
  private struct Item {
    /// The first sixteen bytes of the key, which decide most comparisons.
    var head: UInt64
    var second: UInt64
    var start: Int
    var keyCount: UInt32
    var count: UInt32
  }

  private let limit: Int
  private var items: [Item] = []
  private let bytes: ByteBuffer

  /// - Parameter limit: How many bytes of memory the batch is to take.
  package init(limit: Int) {
    self.limit = limit
    bytes = ByteBuffer()
  }

  /// How many entries there are.
  package var count: Int { items.count }
  /// Whether there are none.
  package var isEmpty: Bool { items.isEmpty }
  /// Whether the batch takes as much memory as it was to.
  package var isFull: Bool { bytes.count + items.count * MemoryLayout<Item>.stride > limit }

  /// Adds an entry; keys and values are copied.
  package mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    items.append(
      Item(
        head: Self.word(key, 0), second: Self.word(key, 8), start: bytes.count,
        keyCount: UInt32(key.count), count: UInt32(key.count + value.count)))
    bytes.append(key)
    bytes.append(value)
  }

  /// Forgets the entries.
  package mutating func removeAll() {
    items.removeAll(keepingCapacity: items.count < 1024)
    bytes.clear()
  }

  /// Sorts the entries by their keys, and those with the same key by when they were added.
  package mutating func sort() {
    guard items.count > 1 else { return }
    let bytes = bytes.bytes
    items.sort { left, right in
      if left.head != right.head { return left.head < right.head }
      if left.second != right.second { return left.second < right.second }
      let order = TotalOrder.compare(Self.key(left, bytes), Self.key(right, bytes))
      return order != 0 ? order < 0 : left.start < right.start
    }
  }

  /// The entry at a place, borrowed until the batch is changed.
  package subscript(index: Int) -> ByteEntry {
    let (item, bytes) = (items[index], bytes.bytes)
    return ByteEntry(
      key: Self.key(item, bytes),
      value: UnsafeRawBufferPointer(
        rebasing: bytes[item.start + Int(item.keyCount)..<item.start + Int(item.count)]))
  }

  /// Hands out the entries of a batch that is sorted; of two with the same key the later one.
  package func forEach(
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    let (items, bytes) = (items, bytes.bytes)
    for index in items.indices {
      let item = items[index]
      if index + 1 < items.count, items[index + 1].head == item.head, items[index + 1].second == item.second,
        TotalOrder.compare(Self.key(item, bytes), Self.key(items[index + 1], bytes)) == 0
      {
        continue
      }
      let end = item.start + Int(item.count)
      try body(
        Self.key(item, bytes),
        UnsafeRawBufferPointer(rebasing: bytes[item.start + Int(item.keyCount)..<end]))
    }
  }

  private static func key(_ item: Item, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[item.start..<item.start + Int(item.keyCount)])
  }

  /// Eight bytes of a key as a number of the same order; what a key does not have counts as zero.
  private static func word(_ key: UnsafeRawBufferPointer, _ place: Int) -> UInt64 {
    if key.count >= place + 8 {
      return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }
    var word: UInt64 = 0
    for index in place..<place + 8 { word = word << 8 | (index < key.count ? UInt64(key[index]) : 0) }
    return word
  }
}
