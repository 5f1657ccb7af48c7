import PersistenceDriver
import PersistenceKeyValue

/// Entries that a transaction has been given and not yet written, to be written in the order of their keys.
///
/// Writing to a tree in order touches each page once and fills it; in the order in which rows come, most of the
/// time of making an index goes into finding pages.
struct LMDBPending {
  private struct Item {
    /// The first sixteen bytes of the key, which decide most comparisons.
    var head: UInt64
    var second: UInt64
    var start: Int
    var keyCount: UInt32
    var count: UInt32
  }

  /// How many bytes are kept before they are written after all.
  private static let limit = 32 << 20

  private var items: [Item] = []
  private let bytes = ByteBuffer()

  var isEmpty: Bool { items.isEmpty }
  var isFull: Bool { bytes.count + items.count * MemoryLayout<Item>.stride > Self.limit }

  mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    items.append(
      Item(
        head: Self.word(key, 0), second: Self.word(key, 8), start: bytes.count,
        keyCount: UInt32(key.count), count: UInt32(key.count + value.count)))
    bytes.append(key)
    bytes.append(value)
  }

  mutating func removeAll() {
    items.removeAll(keepingCapacity: items.count < 1024)
    bytes.clear()
  }

  /// Hands out the entries in the order of their keys; of two with the same key the later one.
  mutating func forEachInOrder(
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    let bytes = bytes.bytes
    func key(_ item: Item) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(rebasing: bytes[item.start..<item.start + Int(item.keyCount)])
    }
    if items.count > 1 {
      items.sort { left, right in
        if left.head != right.head { return left.head < right.head }
        if left.second != right.second { return left.second < right.second }
        let order = TotalOrder.compare(key(left), key(right))
        return order != 0 ? order < 0 : left.start < right.start
      }
    }
    for index in items.indices {
      let item = items[index]
      if index + 1 < items.count, items[index + 1].head == item.head, items[index + 1].second == item.second,
        TotalOrder.compare(key(item), key(items[index + 1])) == 0
      {
        continue
      }
      let end = item.start + Int(item.count)
      try body(key(item), UnsafeRawBufferPointer(rebasing: bytes[item.start + Int(item.keyCount)..<end]))
    }
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
