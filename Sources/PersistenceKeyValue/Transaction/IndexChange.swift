import PersistenceDriver

/// The index entries that a write takes away and adds, made before anything is written.
struct IndexChange {
  private struct Entry {
    var key: [UInt8]
    var value: [UInt8]
  }

  private var removed: [[UInt8]] = []
  private var added: [Entry] = []

  private let binding: ModelBinding
  private let form: KeyForm

  /// The change that replaces a record, or adds one.
  ///
  /// - Parameters:
  ///   - binding: The model.
  ///   - old: The record that is replaced; nil where there is none.
  ///   - new: The new row.
  ///   - storedKey: The stored key of both.
  ///   - writer: The store, for the check of unique indexes.
  ///   - location: The store, for messages.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/uniqueViolation``.
  init(
    _ binding: ModelBinding, old: ByteEntry?, new: borrowing Row, storedKey: UnsafeRawBufferPointer,
    _ writer: any ByteWriter, location: String
  ) throws {
    self.binding = binding
    form = .entries(longest: writer.longestKey)
    let key = writer.workspace.takeBuffer()
    let other = writer.workspace.takeBuffer()
    let row = writer.workspace.takeRow(binding.layout.count)
    defer {
      writer.workspace.giveBack(key)
      writer.workspace.giveBack(other)
      writer.workspace.giveBack(row)
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
    // Looked for at the end: the store may write what it has kept back before it looks, and then the old record's bytes
    // may be others.
    for claim in claims { try require(claim, new, storedKey, writer, location) }
  }

  /// The change that takes a record away.
  init(removing old: ByteEntry, _ binding: ModelBinding, _ writer: any ByteWriter, location: String) throws {
    self.binding = binding
    form = .entries(longest: writer.longestKey)
    let key = writer.workspace.takeBuffer()
    let row = writer.workspace.takeRow(binding.layout.count)
    defer {
      writer.workspace.giveBack(key)
      writer.workspace.giveBack(row)
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
      guard try key.withUnsafeBytes({ try writer.remove($0, in: .indexes) }) else {
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

  /// Values that no other record may have.
  private struct Claim {
    let index: ModelBinding.Index
    /// What the full keys of entries with these values begin with.
    let values: [UInt8]
  }

  /// Makes sure that no other record has the same values in a unique index.
  private func require(
    _ claim: Claim, _ new: borrowing Row, _ storedKey: UnsafeRawBufferPointer, _ writer: any ByteWriter,
    _ location: String
  ) throws {
    let prefix = writer.workspace.takeBuffer()
    let holder = writer.workspace.takeBuffer()
    let cursor = try writer.takeCursor(in: .indexes)
    defer {
      writer.giveBack(cursor)
      writer.workspace.giveBack(prefix)
      writer.workspace.giveBack(holder)
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
        // Entries that go on otherwise are of longer values and stand behind those of these; but where a cut key has
        // room for just these values, digests of other ones may stand among them.
        return
      }
      next = try cursor.next()
    }
  }
}
