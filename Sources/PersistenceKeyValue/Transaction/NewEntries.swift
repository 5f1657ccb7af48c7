import PersistenceDriver

/// The index entries of a new record: made before it is written, so that a row that cannot have them leaves no
/// trace, and written after it.
///
/// One is used for all records of a transaction, so that a record allocates nothing.
final class NewEntries {
  private struct Place {
    var start: Int
    var keyCount: Int
    var count: Int
  }

  private let bytes = ByteBuffer(capacity: 1024)
  private let key = ByteBuffer()
  @exclusivity(unchecked) private var places: [Place] = []

  /// Makes the entries of a row.
  ///
  /// - Throws: ``PersistenceError`` where a value has no encoding.
  func prepare(
    _ row: borrowing Row, _ binding: ModelBinding, storedKey: UnsafeRawBufferPointer, _ form: KeyForm
  ) throws {
    bytes.clear()
    places.removeAll(keepingCapacity: true)
    for index in binding.indexes {
      key.clear()
      let split = try binding.appendEntry(of: row, in: index, to: key)
      let isCut = form.storeEntryKey(key, split: split)
      let start = bytes.count
      bytes.append(key.bytes)
      if isCut { bytes.append(storedKey) } else { IndexEntry.append(split: split, to: bytes) }
      places.append(Place(start: start, keyCount: key.count, count: bytes.count - start))
    }
  }

  /// Writes the entries that were made.
  func write(to writer: any ByteWriter) throws {
    for place in places {
      let entry = bytes.bytes[place.start..<place.start + place.count]
      let split = place.start + place.keyCount
      try writer.put(
        UnsafeRawBufferPointer(rebasing: entry[..<split]), UnsafeRawBufferPointer(rebasing: entry[split...]),
        in: .indexes)
    }
  }
}
