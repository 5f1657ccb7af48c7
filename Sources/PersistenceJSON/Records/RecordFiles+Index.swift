import PersistenceDriver
import PersistenceDriverSupport

/// Reading the indexed values of records, without opening files that have a valid entry.
extension RecordFiles {
  /// The result of reading the indexed values of a record.
  struct Glance {
    /// The index entry; nil if there is none.
    var record: IndexedRecord?
    /// The stamp of the file, which shows a later change; nil if the text cannot change.
    var stamp: UInt64?
    /// Whether the row has all fields, since the file was read, or only the indexed ones.
    var isWhole: Bool
  }

  /// The same files, with the model's index.
  var withIndex: RecordFiles {
    var files = self
    files.index = source.store.index(of: folder, indexed)
    return files
  }

  /// The index entry of a file; nil if there is none, or the file has changed.
  func known(_ file: String) throws -> IndexedRecord? {
    guard let record = index?.record(file), let status = try source.status(of: file, in: folder),
      record.status.isUntouched(since: status)
    else { return nil }
    return record
  }

  /// Sets at least the indexed fields of a row from a listed file, which it reads only without a valid entry.
  func glance(_ file: String, into row: RowBuffer) throws -> Glance {
    if let record = try known(file) {
      record.fill(row, indexed)
      return Glance(record: record, stamp: record.status.stamp, isWhole: false)
    }
    let start = FileTime.now
    let text = try source.readListed(file, in: folder)
    try fill(row, from: text.bytes)
    let record = try row.withRow { row in
      try check(try RecordKey(of: row, in: schema), file)
      guard let index, let status = text.status else { return IndexedRecord?.none }
      return index.keep(file, row, indexed, status: status, readAfter: start)
    }
    return Glance(record: record, stamp: text.stamp, isWhole: true)
  }

  /// Sets at least the indexed fields of a row from an entry.
  func glance(_ entry: Entry, into row: RowBuffer) throws -> Glance {
    try naming(entry.file, entry.key) { try glance(entry.file, into: row) }
  }

  /// Reads the files that the index does not know, or not in their current state, and checks their records.
  ///
  /// It calls a closure with the position of each entry and the stamp of its file, if the file can change.
  func check(_ entries: ArraySlice<Entry>, _ body: (Int, UInt64) throws -> Void) throws {
    let row = RowBuffer(count: schema.fields.count)
    var rest = entries
    while !rest.isEmpty {
      try ReadInterruption.check()
      let batch = rest.prefix(64)
      rest = rest.dropFirst(64)
      let statuses = try source.statuses(of: batch.map(\.file), in: folder)
      for (number, status) in zip(batch.indices, statuses) {
        let entry = entries[number]
        if let status, index?.record(entry.file)?.status.isUntouched(since: status) == true {
          try body(number, status.stamp)
        } else if let stamp = try glance(entry, into: row).stamp {
          try body(number, stamp)
        }
      }
    }
    saveIndex()
  }

  /// Sets the key fields of a row, and all others to nil.
  func fillKey(_ row: RowBuffer, _ entry: Entry) {
    row.reset()
    for (value, position) in zip(entry.key.values, schema.keyPositions) { row.set(value, at: position) }
  }

  /// The entries that match a query's conditions on the key, sorted by key.
  func entries(for query: RecordQuery) throws -> [Entry] {
    let entries = try query.keys.map(entries(of:)) ?? entries()
    guard let onKey = query.onKey else { return entries }
    let row = RowBuffer(count: schema.fields.count)
    var passed = 0
    return try entries.filter { entry in
      fillKey(row, entry)
      passed += 1
      if passed & 0x3FF == 0 { try ReadInterruption.check() }
      return try row.withRow { try onKey.matches($0) }
    }
  }

  /// The entries of those keys that have a file, without listing the folder.
  private func entries(of keys: [RecordKey]) throws -> [Entry] {
    try keys.map { Entry(key: $0, file: FileName.file(for: $0)) }.filter {
      try source.exists($0.file, in: folder)
    }
  }

  /// Writes the index file if enough records are new.
  func saveIndex() {
    index?.saveIfWorthwhile(names)
  }
}
