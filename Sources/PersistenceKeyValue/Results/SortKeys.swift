import PersistenceDriver
import PersistenceDriverSupport

/// The sort keys and stored keys of rows, to be sorted: never the rows.
///
/// A sort key is the key codec's, so that comparing two is comparing bytes. With a limit only the first rows are
/// kept.
struct SortKeys {
  private struct Item {
    /// The first eight bytes of the sort key, which decide most comparisons.
    var head: UInt64
    var start: Int
    var sortLength: Int
    var keyLength: Int
    var place: UnsafeRawBufferPointer?
  }

  private var items: [Item] = []
  private var bytes = ByteBuffer()
  private let wanted: Int

  /// - Parameter wanted: How many rows are needed at most.
  init(wanted: Int) { self.wanted = wanted }

  /// Adds a row.
  ///
  /// - Parameters:
  ///   - row: The row.
  ///   - order: By what it is sorted.
  ///   - storedKey: The stored key of its record.
  ///   - place: Where its record lies, where that will not change.
  /// - Throws: ``PersistenceError`` where a value has no sort key.
  mutating func add(
    _ row: borrowing Row, _ order: RowOrder, storedKey: UnsafeRawBufferPointer,
    place: UnsafeRawBufferPointer?
  ) throws {
    let start = bytes.count
    for criterion in order.criteria {
      try KeyCodec.append(cell: row[criterion.position], isDescending: criterion.isDescending, to: bytes)
    }
    // What follows the last component decides between it and an escape, as a code does after the others.
    bytes.append(KeyCodec.afterLast)
    let sortLength = bytes.count - start
    bytes.append(storedKey)
    items.append(
      Item(
        head: head(start, sortLength), start: start, sortLength: sortLength, keyLength: storedKey.count,
        place: place))
    if wanted < Int.max / 4, items.count >= 2 * wanted + 1024 { cut() }
  }

  /// The stored keys in order.
  mutating func sorted() -> StoredKeys {
    sort()
    var keys = StoredKeys()
    for item in items.prefix(wanted) {
      keys.append(slice(item.start + item.sortLength, item.keyLength), place: item.place)
    }
    return keys
  }

  private mutating func sort() {
    let bytes = bytes.bytes
    items.sort { left, right in
      if left.head != right.head { return left.head < right.head }
      return TotalOrder.compare(
        UnsafeRawBufferPointer(rebasing: bytes[left.start..<left.start + left.sortLength]),
        UnsafeRawBufferPointer(rebasing: bytes[right.start..<right.start + right.sortLength])) < 0
    }
  }

  /// Forgets the rows that cannot be among those wanted.
  private mutating func cut() {
    sort()
    items.removeSubrange(min(wanted, items.count)...)
    let kept = ByteBuffer(capacity: bytes.count / 2 + 256)
    for index in items.indices {
      let item = items[index]
      items[index].start = kept.count
      kept.append(slice(item.start, item.sortLength + item.keyLength))
    }
    bytes = kept
  }

  private func slice(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes.bytes[start..<start + count])
  }

  private func head(_ start: Int, _ count: Int) -> UInt64 {
    var head: UInt64 = 0
    for index in 0..<8 { head = head << 8 | (index < count ? UInt64(bytes.bytes[start + index]) : 0) }
    return head
  }
}

/// Stored keys one after the other.
struct StoredKeys: @unchecked Sendable {  // what the places point at is never written to
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  /// Where the records lie, nil for one that is to be found by its key; empty where all are.
  private var places: [UnsafeRawBufferPointer?] = []

  var count: Int { ends.count }

  mutating func append(_ key: UnsafeRawBufferPointer, place: UnsafeRawBufferPointer? = nil) {
    if place != nil || !places.isEmpty {
      while places.count < ends.count { places.append(nil) }
      places.append(place)
    }
    bytes.append(contentsOf: key)
    ends.append(bytes.count)
  }

  /// Where a record lies, for as long as what it was read in sees the same; nil where nobody knows.
  func place(at index: Int) -> UnsafeRawBufferPointer? { places.isEmpty ? nil : places[index] }

  func withKey<Result>(at index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    let start = index == 0 ? 0 : ends[index - 1]
    return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start..<ends[index]])) }
  }
}

extension PreparedQuery {
  /// Walks the path once, and sorts what fits.
  func sort(_ reader: any ByteReader) throws -> StoredKeys {
    let order = try RowOrder(request.totalOrder, in: binding.declared)
    var keys = SortKeys(wanted: wanted)
    let walk = try RowCursor(self, reader, filling: order.criteria.map { $0.position })
    defer { walk.end() }
    while try walk.next() != nil {
      let key = try walk.storedKey()
      let place = reader.lendsCopies ? nil : walk.recordPlace
      try walk.row.withRow { try keys.add($0, order, storedKey: key, place: place) }
    }
    return keys.sorted()
  }
}
