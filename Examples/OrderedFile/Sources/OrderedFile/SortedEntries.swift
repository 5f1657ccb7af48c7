import PersistenceDriver
import PersistenceKeyValue

/// Bytes that are borrowed for a call, or as long as their record lives.
typealias Bytes = UnsafeRawBufferPointer

/// The entries of one key space, in the order of their keys, as a value: a copy is a snapshot.
struct SortedEntries: Sendable {
  private(set) var records: [Record] = []

  /// A key and its value, at one address for as long as the object lives.
  final class Record: @unchecked Sendable {  // nothing writes to the bytes after init
    let entry: OrderedEntry
    private let bytes: UnsafeMutableRawBufferPointer

    init(_ key: Bytes, _ value: Bytes) {
      bytes = .allocate(byteCount: key.count + value.count, alignment: 1)
      bytes.copyMemory(from: key)
      UnsafeMutableRawBufferPointer(rebasing: bytes[key.count...]).copyMemory(from: value)
      entry = OrderedEntry(
        key: Bytes(rebasing: bytes[..<key.count]), value: Bytes(rebasing: bytes[key.count...]))
    }

    deinit { bytes.deallocate() }
  }

  /// The position of the first key that is not less, and whether it is equal.
  func position(of key: Bytes) -> (index: Int, isFound: Bool) {
    var (low, high, isFound) = (0, records.count, false)
    while low < high {
      let middle = (low + high) / 2
      let order = TotalOrder.compare(records[middle].entry.key, key)
      if order < 0 { low = middle + 1 } else { (high, isFound) = (middle, order == 0) }
    }
    return (low, isFound)
  }

  func value(of key: Bytes) -> Bytes? {
    let place = position(of: key)
    return place.isFound ? records[place.index].entry.value : nil
  }

  /// Sets the value of a key, or removes its entry.
  mutating func set(_ key: Bytes, _ value: Bytes?) {
    let (index, isFound) = position(of: key)
    records.replaceSubrange(index..<index + (isFound ? 1 : 0), with: value.map { [Record(key, $0)] } ?? [])
  }
}

/// A position among the entries of a copy, which live as long as the cursor.
final class EntryCursor: OrderedCursor {
  private let entries: SortedEntries
  private var index = 0

  init(_ entries: SortedEntries) { self.entries = entries }

  func seek(_ key: Bytes) throws -> OrderedEntry? {
    move(to: entries.position(of: key).index)
  }
  func last() throws -> OrderedEntry? { move(to: entries.records.count - 1) }
  func next() throws -> OrderedEntry? { move(to: index + 1) }
  func previous() throws -> OrderedEntry? { move(to: index - 1) }

  private func move(to index: Int) -> OrderedEntry? {
    self.index = index
    return entries.records.indices.contains(index) ? entries.records[index].entry : nil
  }
}
