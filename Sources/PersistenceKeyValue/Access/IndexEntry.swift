import PersistenceDriver

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
    guard entry.value.count <= 2 else {
      // The records may have another number than at the time of the entry.
      return key.append(UnsafeRawBufferPointer(rebasing: entry.value[prefix.count...]))
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
    positions = (path.index?.positions ?? []) + binding.keyPositions
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
