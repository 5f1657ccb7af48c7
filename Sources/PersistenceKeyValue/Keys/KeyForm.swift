import PersistenceDriver
import PersistencePrimitives

/// Maps full keys to stored keys, which have a limited length.
///
/// A full key that is too long is cut: a digest replaces its end, and the record contains the full key. A cut
/// key has exactly the store's largest length and other keys are shorter, so the two cannot be confused. Keys
/// that share the first ``runLength`` bytes of a cut key form a *run*. Within a run the store's order is not
/// the contract's; a reader sorts it by full key.
///
/// A record's key ends with one digest. An index entry's key ends with two, of its values and of its primary
/// key, so entries with equal values are adjacent whatever their length.
struct KeyForm {
  private static let digestLength = 32

  /// The longest key of the store.
  let longest: Int
  /// How many bytes of the full key a cut key keeps.
  let runLength: Int

  static func records(longest: Int) -> KeyForm {
    KeyForm(longest: longest, runLength: longest - digestLength)
  }

  static func entries(longest: Int) -> KeyForm {
    KeyForm(longest: longest, runLength: longest - 2 * digestLength)
  }

  /// Whether a stored key is a cut one.
  func isCut(_ stored: UnsafeRawBufferPointer) -> Bool { stored.count >= longest }

  /// Whether a stored key may belong to a run.
  func mayBeInRun(_ stored: UnsafeRawBufferPointer) -> Bool { stored.count >= runLength }

  /// Cuts the key of a record if it is too long.
  func storeRecordKey(_ key: ByteBuffer) {
    guard key.count >= longest else { return }
    let digest = SHA256.hash(data: key.bytes)
    key.truncate(to: runLength)
    digest.withUnsafeBytes { key.append($0) }
  }

  /// Cuts the key of an index entry if it is too long, and returns whether it was.
  ///
  /// The primary key begins at `split`.
  @discardableResult
  func storeEntryKey(_ key: ByteBuffer, split: Int) -> Bool {
    guard key.count >= longest || split > runLength else { return false }
    let values = SHA256.hash(data: UnsafeRawBufferPointer(rebasing: key.bytes[..<split]))
    let primary = SHA256.hash(data: UnsafeRawBufferPointer(rebasing: key.bytes[split...]))
    key.truncate(to: runLength)
    values.withUnsafeBytes { key.append($0) }
    primary.withUnsafeBytes { key.append($0) }
    return true
  }

  /// Turns values into the common prefix of all stored entries with exactly these values; returns whether it
  /// was cut.
  @discardableResult
  func storeEntryPrefix(_ key: ByteBuffer) -> Bool {
    guard key.count > runLength else { return false }
    let values = SHA256.hash(data: key.bytes)
    key.truncate(to: runLength)
    values.withUnsafeBytes { key.append($0) }
    return true
  }

  /// The digest of the values in the cut key of an index entry.
  func valuesDigest(of cut: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: cut[runLength..<(runLength + Self.digestLength)])
  }

  /// Whether an entry has exactly these values, given that its key begins with their stored prefix.
  func hasValues(_ stored: UnsafeRawBufferPointer, _ values: [UInt8]) -> Bool {
    if values.count > runLength { return true }
    if isCut(stored), values.count == runLength {
      return values.withUnsafeBytes { SHA256.hash(data: $0) }.elementsEqual(valuesDigest(of: stored))
    }
    // A text that continues with an escape is a longer one.
    return stored.count > values.count && stored[values.count] != KeyCodec.afterAll
  }
}

/// The value of an index entry, which locates the entry's record.
///
/// The key of an entry that is not cut ends with the record's key, and its value holds the offset of that key
/// in two bytes. The value of a cut entry is the record's stored key, which is always longer.
enum IndexEntry {
  static func append(split: Int, to value: ByteBuffer) {
    value.append(UInt8(truncatingIfNeeded: split >> 8))
    value.append(UInt8(truncatingIfNeeded: split))
  }

  /// Appends the stored key of an entry's record, whose model has this prefix.
  static func appendRecordKey(of entry: OrderedEntry, prefix: [UInt8], to key: ByteBuffer) throws {
    key.append(prefix)
    try appendRecordKey(of: entry, behind: prefix.count, to: key)
  }

  /// Appends the stored key of an entry's record but for the model's prefix, which has this length.
  @inline(__always)
  static func appendRecordKey(of entry: OrderedEntry, behind prefix: Int, to key: ByteBuffer) throws {
    guard entry.value.count <= 2 else {
      guard entry.value.count > prefix else {
        throw PersistenceError.damaged("the value of an index entry is malformed")
      }
      // The records may have another number than at the time of the entry.
      return key.append(UnsafeRawBufferPointer(rebasing: entry.value[prefix...]))
    }
    let split = try split(of: entry)
    key.append(UnsafeRawBufferPointer(rebasing: entry.key[split...]))
  }

  /// The offset of the primary key in an entry's key that is not cut.
  static func split(of entry: OrderedEntry) throws -> Int {
    guard entry.value.count == 2 else {
      throw PersistenceError.damaged("the value of an index entry is malformed")
    }
    let split = Int(entry.value[0]) << 8 | Int(entry.value[1])
    guard split < entry.key.count else { throw PersistenceError.damaged("an index entry is malformed") }
    return split
  }
}

/// The fields that the stored keys of a path contain, which are decoded without reading records.
///
/// A cut key does not contain them; callers check ``KeyForm/isCut(_:)`` first.
struct EntryFields: Sendable {
  /// The length of the prefix before the first component.
  private let start: Int
  /// The declared positions of the components, in order.
  let positions: [Int]

  init(of path: AccessPath, _ binding: ModelBinding) {
    start = (path.index?.prefix ?? binding.prefix).count
    positions = path.index?.components ?? binding.keyPositions
  }

  /// Whether the keys contain all of these fields.
  func cover(_ wanted: [Int]) -> Bool { wanted.allSatisfy(positions.contains) }

  /// The field to fill from each component; nil to skip a component.
  ///
  /// The list ends with the last component that is needed.
  func reading(_ wanted: [Int]) -> [Int?] {
    var missing = Set(wanted)
    var steps: [Int?] = []
    for position in positions {
      guard !missing.isEmpty else { break }
      steps.append(missing.remove(position))
    }
    return steps
  }

  /// Fills fields of a row from a key that is not cut; returns whether bytes were copied to the row's memory.
  ///
  /// The caller then resets the row before the next one.
  func fill(_ row: RowBuffer, from key: UnsafeRawBufferPointer, _ steps: [Int?]) throws -> Bool {
    var index = start
    var hasCopied = false
    for position in steps {
      if try KeyCodec.fill(position, of: row, from: key, at: &index) { hasCopied = true }
    }
    return hasCopied
  }
}
