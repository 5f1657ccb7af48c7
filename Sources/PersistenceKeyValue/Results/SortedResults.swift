import PersistenceDriver
import PersistenceDriverSupport

/// Results that no path yields in order: holds the sorted record keys, and reads the records a page at a
/// time.
final class SortedResults: StorageResults {
  let usesRandomAccess = false
  private let query: PreparedQuery
  private let keys: StoredKeys
  private let source: any ByteSource
  private let selection: [Int]?

  init(_ query: PreparedQuery, _ keys: StoredKeys, _ source: any ByteSource, selecting selection: [Int]?) {
    self.query = query
    self.keys = keys
    self.source = source
    self.selection = selection
  }

  func count() throws -> Int { max(0, keys.count - query.request.offset) }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    guard limit > 0, offset >= 0 else { return 0 }
    let first = min(keys.count, query.request.offset)
    let start = min(keys.count - first, offset) + first
    let end = start + min(limit, keys.count - start)
    guard start < end else { return 0 }
    return try source.withReader { reader in
      let access = RecordAccess(query.binding, reader, location: query.location)
      let row = reader.workspace.acquireRow(query.binding.layout.count)
      let cursor = try reader.acquireCursor(in: .records)
      let selected = selection.map { PushedDownSelection($0, copying: reader.copiesRows) }
      let read = Set(selection ?? []).sorted()
      defer {
        reader.workspace.release(row)
        reader.release(cursor)
      }
      for index in start..<end {
        if index & 0x3F == 0 { try ReadInterruption.check() }
        try keys.withKey(at: index) { key in
          let record: OrderedEntry
          if let address = keys.address(at: index) {
            record = OrderedEntry(key: key, value: address)
          } else if let found = try cursor.find(key) {
            record = found
          } else {
            throw PersistenceError.damaged("a record of a sorted result is missing")
              .at(model: query.binding.declared.name, location: query.location)
          }
          guard let selected else { return try access.read(record, row, body) }
          try access.fill(row, from: record, only: read)
          try selected.apply(to: row, body)
        }
      }
      return end - start
    }
  }
}

extension PreparedQuery {
  /// Passes on the rows in the order of a sort, and returns their number.
  func passOnSorted(
    _ reader: any ByteReader, after passed: Int, _ body: (borrowing Row) throws -> Void
  ) throws -> Int {
    let rows = SortedResults(self, try sort(reader), HeldReader(reader: reader), selecting: nil)
    let first = max(0, passed - request.offset)
    return try first + rows.read(from: first, limit: .max, body)
  }
}

/// A reader that results have for the length of one call.
private final class HeldReader: ByteSource, @unchecked Sendable {  // used by one thread
  private let reader: any ByteReader

  init(reader: any ByteReader) { self.reader = reader }

  func withReader<Result>(_ body: (any ByteReader) throws -> Result) throws -> Result { try body(reader) }
}

/// Sorts rows by their encoded sort keys, and keeps only sort keys and stored keys.
///
/// The key codec encodes sort keys, so they compare as bytes. With a limit, the sorter discards rows beyond
/// it.
struct SortKeys {
  private struct Item {
    /// The first eight bytes of the sort key, which decide most comparisons.
    var head: UInt64
    var start: Int
    var sortLength: Int
    var keyLength: Int
    var address: UnsafeRawBufferPointer?
  }

  private var items: [Item] = []
  private var bytes = ByteBuffer()
  private let wanted: Int

  /// Creates a sorter for a caller that needs at most this many rows.
  init(wanted: Int) { self.wanted = wanted }

  /// Adds a row; its record's address is nil if it may move.
  mutating func add(
    _ row: borrowing Row, _ order: RowOrder, storedKey: UnsafeRawBufferPointer,
    address: UnsafeRawBufferPointer?
  ) throws {
    let start = bytes.count
    for criterion in order.criteria {
      try KeyCodec.append(cell: row[criterion.position], isDescending: criterion.isDescending, to: bytes)
    }
    // The terminator orders the last component before its escapes, as a type code does between components.
    bytes.append(KeyCodec.afterLast)
    let sortLength = bytes.count - start
    bytes.append(storedKey)
    items.append(
      Item(
        head: head(start, sortLength), start: start, sortLength: sortLength, keyLength: storedKey.count,
        address: address))
    if wanted < Int.max / 4, items.count >= 2 * wanted + 1024 { cut() }
  }

  mutating func sorted() -> StoredKeys {
    sort()
    var keys = StoredKeys()
    for item in items.prefix(wanted) {
      keys.append(slice(item.start + item.sortLength, item.keyLength), address: item.address)
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

/// A list of stored keys in one buffer.
struct StoredKeys: @unchecked Sendable {  // nothing writes to the addressed bytes
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  /// The addresses of the records; nil for a record to look up by key; empty if all are.
  private var addresses: [UnsafeRawBufferPointer?] = []

  var count: Int { ends.count }

  mutating func append(_ key: UnsafeRawBufferPointer, address: UnsafeRawBufferPointer? = nil) {
    if address != nil || !addresses.isEmpty {
      while addresses.count < ends.count { addresses.append(nil) }
      addresses.append(address)
    }
    bytes.append(contentsOf: key)
    ends.append(bytes.count)
  }

  /// The address of a record, valid for the snapshot; nil if unknown.
  func address(at index: Int) -> UnsafeRawBufferPointer? { addresses.isEmpty ? nil : addresses[index] }

  func withKey<Result>(at index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    let start = index == 0 ? 0 : ends[index - 1]
    return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start..<ends[index]])) }
  }
}

extension PreparedQuery {
  /// Reads the path once and sorts the matching rows.
  func sort(_ reader: any ByteReader) throws -> StoredKeys {
    let order = try RowOrder(request.totalOrder, in: binding.declared)
    var keys = SortKeys(wanted: wanted)
    let cursor = try RowCursor(self, reader, filling: order.criteria.map { $0.position })
    defer { cursor.close() }
    while try cursor.next() != nil {
      let key = try cursor.storedKey()
      let address = reader.copiesRows ? nil : cursor.recordAddress
      try cursor.row.withRow { try keys.add($0, order, storedKey: key, address: address) }
    }
    return keys.sorted()
  }
}

/// A set of stored keys: the records of the buffered side of an intersection.
struct KeySet {
  private var keys = StoredKeys()
  /// A hash table with open addressing: the position of a key plus one, or 0 for an empty slot.
  private var slots = [UInt32](repeating: 0, count: 128)
  private var mask: Int { slots.count - 1 }

  /// Adds a key that the set does not contain.
  mutating func add(_ key: UnsafeRawBufferPointer) {
    if (keys.count + 1) * 2 > slots.count { grow() }
    keys.append(key)
    insert(keys.count, Self.hash(key))
  }

  func contains(_ key: UnsafeRawBufferPointer) -> Bool {
    var slot = Self.hash(key) & mask
    while slots[slot] != 0 {
      if keys.withKey(at: Int(slots[slot]) - 1, { TotalOrder.compare($0, key) == 0 }) { return true }
      slot = (slot + 1) & mask
    }
    return false
  }

  private mutating func insert(_ number: Int, _ hash: Int) {
    var slot = hash & mask
    while slots[slot] != 0 { slot = (slot + 1) & mask }
    slots[slot] = UInt32(truncatingIfNeeded: number)
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: slots.count * 2)
    for number in 0..<keys.count { insert(number + 1, keys.withKey(at: number, Self.hash)) }
  }

  private static func hash(_ key: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: key)
    return hasher.finalize()
  }
}
