import PersistenceDriver

/// How indexes are built over records that are there.
package struct IndexBuilding: Sendable {
  /// How many bytes of entries are sorted in memory at once, and about how many are written in one transaction.
  package var memory: Int
  /// The folder for what does not fit: in a file there that has no name.
  package var folder: String

  package init(memory: Int, folder: String) {
    self.memory = memory
    self.folder = folder
  }
}

/// The building of a model's indexes over records that are there: all entries are sorted first, and then appended, in
/// as many transactions as that takes.
///
/// It belongs to the store's one writer, for as long as the records stay what they are.
final class IndexBuild: @unchecked Sendable {  // used within transactions, of which there is one at a time
  /// What the catalog calls the build while it is under way.
  let token = Int64.random(in: 1...Int64.max)

  private let sorter: EntrySorter
  private let step: Int
  /// The key of the entry that was written last.
  private let last = ByteBuffer()

  /// Sorts the entries of all records.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/uniqueViolation`` where two records have the same
  ///   values in a unique index, and ``PersistenceError/Code/storeFull``; nothing has been written then.
  init(
    _ binding: ModelBinding, _ reader: any ByteReader, _ settings: IndexBuilding, location: String
  ) throws {
    sorter = EntrySorter(memory: settings.memory, folder: settings.folder)
    step = settings.memory
    try sort(binding, reader, location)
    try sorter.finish()
    if binding.storedIndexes.contains(where: \.schema.isUnique) {
      var claims = UniqueClaims(binding, reader, location: location)
      while let entry = try sorter.entry() { try claims.check(entry) }
      sorter.rewind()
    }
  }

  private func sort(_ binding: ModelBinding, _ reader: any ByteReader, _ location: String) throws {
    let form = KeyForm.entries(longest: reader.longestKey)
    let access = RecordAccess(binding, reader, location: location)
    let cursor = try reader.takeCursor(in: .records)
    let row = reader.workspace.takeRow(binding.layout.count)
    let (key, value) = (reader.workspace.takeBuffer(), reader.workspace.takeBuffer())
    defer {
      reader.giveBack(cursor)
      reader.workspace.giveBack(row)
      reader.workspace.giveBack(key)
      reader.workspace.giveBack(value)
    }
    try binding.prefix.withUnsafeBytes { prefix in
      var next = try cursor.seek(prefix)
      while let record = next, ByteOrder.begins(record.key, with: prefix) {
        try access.fill(row, from: record, only: binding.entryPositions)
        try row.withRow { row in
          for index in binding.storedIndexes {
            key.clear()
            value.clear()
            let split = try binding.appendEntry(of: row, in: index, to: key)
            let isClaim = index.schema.isUnique && !index.positions.contains { row[$0].isNull }
            value.append(isClaim ? UniqueClaims.mark : 0)
            if form.storeEntryKey(key, split: split) {
              value.append(record.key)
            } else {
              IndexEntry.append(split: split, to: value)
            }
            try sorter.add(key.bytes, value.bytes)
          }
        }
        next = try cursor.next()
      }
    }
  }

  /// Writes entries behind those that the store has.
  ///
  /// - Parameters:
  ///   - writer: The store.
  ///   - prefix: What the keys of the model's entries begin with.
  /// - Returns: Whether all are written.
  /// - Throws: ``PersistenceError`` where the store is full or fails.
  func write(to writer: any ByteWriter, prefix: [UInt8]) throws -> Bool {
    let stored = try Self.lastKey(prefix, writer)
    var entry: ByteEntry?
    if !stored.elementsEqual(last.bytes) {
      // The store is behind, since a transaction was undone, or before: another process has begun.
      sorter.rewind()
      entry = try sorter.entry()
      while let found = entry, stored.withUnsafeBytes({ TotalOrder.compare(found.key, $0) <= 0 }) {
        entry = try sorter.entry()
      }
    } else {
      entry = try sorter.entry()
    }
    var count = 0
    while let found = entry {
      let value = UnsafeRawBufferPointer(rebasing: found.value[1...])
      try writer.reserve(found.key, count: value.count, in: .indexes, isReplacing: true)?
        .copyMemory(from: value)
      last.clear()
      last.append(found.key)
      count += found.key.count + value.count
      if count >= step { return false }
      entry = try sorter.entry()
    }
    return true
  }

  /// The greatest key that begins with a prefix; empty where there is none.
  private static func lastKey(_ prefix: [UInt8], _ reader: any ByteReader) throws -> [UInt8] {
    let cursor = try reader.takeCursor(in: .indexes)
    defer { reader.giveBack(cursor) }
    var entry: ByteEntry?
    if let beyond = ByteOrder.next(after: prefix), try beyond.withUnsafeBytes({ try cursor.seek($0) }) != nil
    {
      entry = try cursor.previous()
    } else {
      entry = try cursor.last()
    }
    guard let entry, prefix.withUnsafeBytes({ ByteOrder.begins(entry.key, with: $0) }) else { return [] }
    return [UInt8](entry.key)
  }
}
