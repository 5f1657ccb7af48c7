import PersistenceDriver

/// The resources for building indexes over existing records, and for copying records.
package struct IndexBuilding: Sendable {
  /// The memory for sorting entries in bytes; about as many are written between two commits.
  package var memory: Int
  /// The folder for an unnamed file with the entries that exceed the memory.
  package var folder: String

  package init(memory: Int, folder: String) {
    self.memory = memory
    self.folder = folder
  }
}

/// Builds a model's indexes over existing records: sorts all entries, then appends them in several
/// transactions.
///
/// The build belongs to the store's writer. It is valid until the model's records change.
final class IndexBuild: @unchecked Sendable {  // only write transactions use it, one at a time
  /// The number of the build in the catalog.
  let token = Int64.random(in: 1...Int64.max)

  private let sorter: EntrySorter
  private let step: Int
  /// The key of the last written entry.
  private let last = ByteBuffer()

  /// Sorts the entries of all records, and checks unique indexes; writes nothing to the store.
  ///
  /// With `indexes`, builds only these, to be written with ``writeAll(to:)``.
  init(
    _ binding: ModelBinding, only indexes: [ModelBinding.Index]? = nil, _ reader: any ByteReader,
    _ settings: IndexBuilding, location: String
  ) throws {
    let indexes = indexes ?? binding.storedIndexes
    sorter = EntrySorter(memory: settings.memory, folder: settings.folder)
    step = settings.memory
    try sort(binding, indexes, reader, location)
    try sorter.finish()
    if indexes.contains(where: \.schema.isUnique) {
      var claims = UniqueClaims(binding, reader, location: location)
      while let entry = try sorter.entry() { try claims.check(entry) }
      sorter.rewind()
    }
  }

  private func sort(
    _ binding: ModelBinding, _ indexes: [ModelBinding.Index], _ reader: any ByteReader, _ location: String
  ) throws {
    let form = KeyForm.entries(longest: reader.longestKey)
    let access = RecordAccess(binding, reader, location: location)
    let cursor = try reader.acquireCursor(in: .records)
    let row = reader.workspace.acquireRow(binding.layout.count)
    let (key, value) = (reader.workspace.acquireBuffer(), reader.workspace.acquireBuffer())
    defer {
      reader.release(cursor)
      reader.workspace.release(row)
      reader.workspace.release(key)
      reader.workspace.release(value)
    }
    var done = 0
    try binding.prefix.withUnsafeBytes { prefix in
      var next = try cursor.seek(prefix)
      while let record = next, ByteOrder.begins(record.key, with: prefix) {
        try StoreProgress.report(done)
        done += 1
        try access.fill(row, from: record, only: binding.entryPositions)
        try row.withRow { row in
          for index in indexes {
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

  /// Appends entries after the last one of the store; returns whether all are written.
  func write(to writer: any ByteWriter, prefix: [UInt8]) throws -> Bool {
    let stored = try Self.lastKey(prefix, writer)
    var entry: OrderedEntry?
    if !stored.elementsEqual(last.bytes) {
      // The store is behind after a rollback, or another process has continued a build.
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
      try Self.write(found, to: writer)
      last.clear()
      last.append(found.key)
      count += found.key.count + found.value.count - 1
      if count >= step { return false }
      entry = try sorter.entry()
    }
    return true
  }

  /// Writes all entries.
  func writeAll(to writer: any ByteWriter) throws {
    sorter.rewind()
    while let entry = try sorter.entry() { try Self.write(entry, to: writer) }
  }

  /// Writes an entry without the mark of a unique claim.
  private static func write(_ entry: OrderedEntry, to writer: any ByteWriter) throws {
    let value = UnsafeRawBufferPointer(rebasing: entry.value[1...])
    try writer.reserve(entry.key, count: value.count, in: .indexes, isReplacing: true)?.copyMemory(
      from: value)
  }

  /// The greatest key with a prefix; empty if there is none.
  private static func lastKey(_ prefix: [UInt8], _ reader: any ByteReader) throws -> [UInt8] {
    let cursor = try reader.acquireCursor(in: .indexes)
    defer { reader.release(cursor) }
    var entry: OrderedEntry?
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
