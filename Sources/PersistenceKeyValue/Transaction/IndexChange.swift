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
        try requireUnique(key, split, index, new, storedKey, writer, location)
      }
      let isCut = form.storeEntryKey(key, split: split)
      other.clear()
      if isCut { other.append(storedKey) } else { IndexEntry.append(split: split, to: other) }
      added.append(Entry(key: key.array, value: other.array))
    }
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

  /// Makes sure that no other record has the same values in a unique index.
  private func requireUnique(
    _ key: ByteBuffer, _ split: Int, _ index: ModelBinding.Index, _ new: borrowing Row,
    _ storedKey: UnsafeRawBufferPointer, _ writer: any ByteWriter, _ location: String
  ) throws {
    let prefix = writer.workspace.takeBuffer()
    let holder = writer.workspace.takeBuffer()
    let cursor = try writer.takeCursor(in: .indexes)
    defer {
      writer.giveBack(cursor)
      writer.workspace.giveBack(prefix)
      writer.workspace.giveBack(holder)
    }
    prefix.append(UnsafeRawBufferPointer(rebasing: key.bytes[..<split]))
    let isCut = form.storeEntryPrefix(prefix)
    guard let entry = try cursor.seek(prefix.bytes), ByteOrder.begins(entry.key, with: prefix.bytes) else {
      return
    }
    // What goes on with an escape is a longer text, not the same one.
    let count = prefix.count
    guard isCut || (entry.key.count > count && entry.key[count] != KeyCodec.afterAll) else { return }
    try IndexEntry.appendRecordKey(of: entry, prefix: binding.prefix, to: holder)
    guard !holder.bytes.elementsEqual(storedKey) else { return }
    var values: [PersistentValue] = []
    for position in index.positions { values.append(try new.value(at: position)) }
    throw PersistenceError.uniqueViolation(
      values, of: index.schema, in: binding.declared, key: try RecordKey(of: new, in: binding.declared)
    ).at(location: location)
  }
}
