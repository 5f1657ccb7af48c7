import PersistenceDriver

/// The index entries that a write removes and adds, computed before anything is written.
struct IndexChange {
  private struct Entry {
    var key: [UInt8]
    var value: [UInt8]
  }

  private var removed: [[UInt8]] = []
  private var added: [Entry] = []

  private let binding: ModelBinding
  private let form: KeyForm

  /// The change for a record that replaces an old one with the same stored key, or is inserted; throws if its
  /// values violate a unique index.
  init(
    _ binding: ModelBinding, old: OrderedEntry?, new: borrowing Row, storedKey: UnsafeRawBufferPointer,
    _ writer: any ByteWriter, location: String
  ) throws {
    self.binding = binding
    form = .entries(longest: writer.longestKey)
    let key = writer.workspace.acquireBuffer()
    let other = writer.workspace.acquireBuffer()
    let row = writer.workspace.acquireRow(binding.layout.count)
    defer {
      writer.workspace.release(key)
      writer.workspace.release(other)
      writer.workspace.release(row)
    }
    if let old {
      try RecordAccess(binding, writer, location: location).fill(row, from: old, only: binding.entryPositions)
    }
    var claims: [Claim] = []
    for index in binding.indexes {
      key.clear()
      let split = try binding.appendEntry(of: new, in: index, to: key)
      var isSame = false
      if old != nil {
        other.clear()
        let oldSplit = try row.withRow { try binding.appendEntry(of: $0, in: index, to: other) }
        isSame = key.bytes.elementsEqual(other.bytes)
        if !isSame {
          form.storeEntryKey(other, split: oldSplit)
          removed.append(other.array)
        }
      }
      guard !isSame else { continue }
      if index.schema.isUnique, !index.positions.contains(where: { new[$0].isNull }) {
        claims.append(Claim(index: index, values: [UInt8](key.bytes[..<split])))
      }
      let isCut = form.storeEntryKey(key, split: split)
      other.clear()
      if isCut { other.append(storedKey) } else { IndexEntry.append(split: split, to: other) }
      added.append(Entry(key: key.array, value: other.array))
    }
    // Checked last: the store may flush buffered writes before it reads, which invalidates the old record's
    // bytes.
    for claim in claims { try require(claim, new, storedKey, writer, location) }
  }

  /// The change for a record that is deleted.
  init(removing old: OrderedEntry, _ binding: ModelBinding, _ writer: any ByteWriter, location: String) throws
  {
    self.binding = binding
    form = .entries(longest: writer.longestKey)
    let key = writer.workspace.acquireBuffer()
    let row = writer.workspace.acquireRow(binding.layout.count)
    defer {
      writer.workspace.release(key)
      writer.workspace.release(row)
    }
    try RecordAccess(binding, writer, location: location).fill(row, from: old, only: binding.entryPositions)
    for index in binding.indexes {
      key.clear()
      let split = try row.withRow { try binding.appendEntry(of: $0, in: index, to: key) }
      form.storeEntryKey(key, split: split)
      removed.append(key.array)
    }
  }

  func apply(to writer: any ByteWriter) throws {
    for key in removed {
      guard try key.withUnsafeBytes({ try writer.remove($0, in: .indexes) }) || binding.isWaiting(key) else {
        throw PersistenceError.damaged("the index entry of a record is missing")
          .at(model: binding.declared.name)
      }
    }
    for entry in added {
      try entry.key.withUnsafeBytes { key in
        try entry.value.withUnsafeBytes { try writer.put(key, $0, in: .indexes) }
      }
    }
  }

  /// Values of a unique index that no other record may have.
  private struct Claim {
    let index: ModelBinding.Index
    /// The common prefix of the full keys of entries with these values.
    let values: [UInt8]
  }

  /// Throws if another record has the same values in a unique index.
  private func require(
    _ claim: Claim, _ new: borrowing Row, _ storedKey: UnsafeRawBufferPointer, _ writer: any ByteWriter,
    _ location: String
  ) throws {
    let prefix = writer.workspace.acquireBuffer()
    let holder = writer.workspace.acquireBuffer()
    let cursor = try writer.acquireCursor(in: .indexes)
    defer {
      writer.release(cursor)
      writer.workspace.release(prefix)
      writer.workspace.release(holder)
    }
    prefix.append(claim.values)
    form.storeEntryPrefix(prefix)
    var next = try cursor.seek(prefix.bytes)
    while let entry = next, ByteOrder.begins(entry.key, with: prefix.bytes) {
      if form.hasValues(entry.key, claim.values) {
        holder.clear()
        try IndexEntry.appendRecordKey(of: entry, prefix: binding.prefix, to: holder)
        if !holder.bytes.elementsEqual(storedKey) {
          let (index, model) = (claim.index, binding.declared)
          var values: [PersistentValue] = []
          for position in index.positions { values.append(try new.value(at: position)) }
          throw PersistenceError.uniqueViolation(
            values, of: index.schema, in: model, key: try RecordKey(of: new, in: model)
          ).at(location: location)
        }
      } else if claim.values.count != form.runLength {
        // Entries with another continuation have longer values and sort after these. In a cut key with room
        // for exactly these values, digests of other values may come between.
        return
      }
      next = try cursor.next()
    }
  }
}

/// The index entries of a new record, encoded before the record is written and stored after it.
///
/// A row with a value that cannot be encoded is thus rejected without effect. One instance serves all records
/// of a transaction, so a record allocates nothing.
final class NewEntries {
  private struct Slice {
    var start: Int
    var keyCount: Int
    var count: Int
  }

  private let bytes = ByteBuffer(capacity: 1024)
  private let key = ByteBuffer()
  @exclusivity(unchecked) private var slices: [Slice] = []

  func prepare(
    _ row: borrowing Row, _ binding: ModelBinding, storedKey: UnsafeRawBufferPointer, _ form: KeyForm
  ) throws {
    bytes.clear()
    slices.removeAll(keepingCapacity: true)
    for index in binding.indexes {
      key.clear()
      let split = try binding.appendEntry(of: row, in: index, to: key)
      let isCut = form.storeEntryKey(key, split: split)
      let start = bytes.count
      bytes.append(key.bytes)
      if isCut { bytes.append(storedKey) } else { IndexEntry.append(split: split, to: bytes) }
      slices.append(Slice(start: start, keyCount: key.count, count: bytes.count - start))
    }
  }

  func write(to writer: any ByteWriter) throws {
    for slice in slices {
      let entry = bytes.bytes[slice.start..<slice.start + slice.count]
      let split = slice.start + slice.keyCount
      try writer.put(
        UnsafeRawBufferPointer(rebasing: entry[..<split]), UnsafeRawBufferPointer(rebasing: entry[split...]),
        in: .indexes)
    }
  }
}
