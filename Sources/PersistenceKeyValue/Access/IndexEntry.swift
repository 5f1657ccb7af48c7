import PersistenceDriver

/// The values of index entries: how an entry leads to its record.
///
/// An entry whose key is whole has the record's key at its end; its value says where that begins, in two bytes.
/// The value of a cut entry is the stored key of the record, which is never as short.
enum IndexEntry {
  static func append(split: Int, to value: ByteBuffer) {
    value.append(UInt8(truncatingIfNeeded: split >> 8))
    value.append(UInt8(truncatingIfNeeded: split))
  }

  /// Appends the stored key of an entry's record.
  ///
  /// - Parameters:
  ///   - entry: The entry, as it is stored.
  ///   - prefix: What the keys of the model's records begin with.
  ///   - key: Where the key is appended.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged``.
  static func appendRecordKey(of entry: ByteEntry, prefix: [UInt8], to key: ByteBuffer) throws {
    guard entry.value.count <= 2 else { return key.append(entry.value) }
    let split = try split(of: entry)
    key.append(prefix)
    key.append(UnsafeRawBufferPointer(rebasing: entry.key[split...]))
  }

  /// Where the primary key begins in the key of an entry that is not cut.
  static func split(of entry: ByteEntry) throws -> Int {
    guard entry.value.count == 2 else { throw PersistenceError.damaged("an index entry has no value") }
    let split = Int(entry.value[0]) << 8 | Int(entry.value[1])
    guard split < entry.key.count else { throw PersistenceError.damaged("an index entry is malformed") }
    return split
  }
}
