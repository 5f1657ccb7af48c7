import PersistenceDriver

/// A batch of entries in memory, which are sorted by key or added in this order.
///
/// Sorted writes touch each page of a tree once and fill it. Writes in the order of the rows spend most of
/// their time finding pages.
package struct EntryBatch {
  private struct Item {
    /// The first sixteen bytes of the key, which decide most comparisons.
    var head: UInt64
    var second: UInt64
    var start: Int
    var keyCount: UInt32
    var valueCount: UInt32
  }

  private let limit: Int
  private var items: [Item] = []
  private let bytes: ByteBuffer

  /// Creates an empty batch with a memory limit in bytes.
  package init(limit: Int) {
    self.limit = limit
    bytes = ByteBuffer()
  }

  package var count: Int { items.count }
  /// The number of bytes of all keys and values.
  var byteCount: Int { bytes.count }
  package var isEmpty: Bool { items.isEmpty }
  /// Whether the batch has reached its memory limit.
  package var isFull: Bool { bytes.count + items.count * MemoryLayout<Item>.stride > limit }

  /// Adds a copy of an entry.
  package mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let memory = add(key, count: value.count)
    if !value.isEmpty { memory.copyMemory(from: value) }
  }

  /// Adds an entry; returns the memory of its value, for the caller to set before the next call.
  @inline(__always)
  mutating func add(_ key: UnsafeRawBufferPointer, count: Int) -> UnsafeMutableRawBufferPointer {
    items.append(
      Item(
        head: Self.word(key, 0), second: Self.word(key, 8), start: bytes.count,
        keyCount: UInt32(key.count), valueCount: UInt32(count)))
    bytes.append(key)
    return bytes.extend(by: count)
  }

  package mutating func removeAll() {
    items.removeAll(keepingCapacity: items.count < 1024)
    bytes.clear()
  }

  /// Sorts the entries by key, and equal keys by insertion.
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

  /// The entry at a position, borrowed until the batch changes.
  package subscript(index: Int) -> OrderedEntry {
    let (item, bytes) = (items[index], bytes.bytes)
    return OrderedEntry(key: Self.key(item, bytes), value: Self.value(item, bytes))
  }

  /// Passes the entries of a sorted batch to a closure; of equal keys, only the last one.
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
      try body(Self.key(item, bytes), Self.value(item, bytes))
    }
  }

  private static func key(_ item: Item, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[item.start..<item.start + Int(item.keyCount)])
  }

  private static func value(_ item: Item, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let start = item.start + Int(item.keyCount)
    return UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(item.valueCount)])
  }

  /// Eight bytes of a key as a number of the same order; missing bytes are zero.
  private static func word(_ key: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    if key.count >= offset + 8 {
      return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    var word: UInt64 = 0
    for index in offset..<offset + 8 { word = word << 8 | (index < key.count ? UInt64(key[index]) : 0) }
    return word
  }
}
