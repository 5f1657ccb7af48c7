import PersistenceDriver
import PersistenceDriverSupport

/// Looking at records without opening their files, where the index knows them.
extension RecordFiles {
  /// What a look at a record found.
  struct Glance {
    /// What the index keeps of the record; nil where it keeps nothing.
    var record: IndexedRecord?
    /// What tells whether a later reading finds the same; nil where it always does.
    var stamp: UInt64?
    /// Whether the row has all its fields, since the file was read; otherwise it has the kept ones.
    var isWhole: Bool
  }

  /// The same files, looked at with the help of the model's index.
  var withIndex: RecordFiles {
    var files = self
    files.index = source.store.index(of: folder, indexed)
    return files
  }

  /// What the index keeps of a file, if the file is still what it was.
  func known(_ file: String) throws -> IndexedRecord? {
    guard let record = index?.record(file), let status = try source.status(of: file, in: folder),
      record.status.isUntouched(since: status)
    else { return nil }
    return record
  }

  /// Fills at least the kept fields of a row with those of a listed file, which is read only where the index does
  /// not know it.
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

  /// Fills at least the kept fields of a row with those of an entry.
  func glance(_ entry: Entry, into row: RowBuffer) throws -> Glance {
    try naming(entry.file, entry.key) { try glance(entry.file, into: row) }
  }

  /// Fills a row with an entry's key, and makes the other fields nil.
  func fillKey(_ row: RowBuffer, _ entry: Entry) {
    row.reset()
    for (value, position) in zip(entry.key.values, schema.keyPositions) { row.set(value, at: position) }
  }

  /// The files of all records whose keys fulfil a query's conditions on the key alone, sorted by key.
  func entries(for query: RecordQuery) throws -> [Entry] {
    let entries = try query.keys.map(entries(of:)) ?? entries()
    guard let onKey = query.onKey else { return entries }
    let row = RowBuffer(count: schema.fields.count)
    return try entries.filter { entry in
      fillKey(row, entry)
      return try row.withRow { try onKey.matches($0) }
    }
  }

  /// The files of keys, as far as there are some: the folder is not listed.
  private func entries(of keys: [RecordKey]) throws -> [Entry] {
    try keys.map { Entry(key: $0, file: FileName.file(for: $0)) }.filter {
      try source.exists($0.file, in: folder)
    }
  }

  /// Writes the index's file, where enough is new to be worth it.
  func saveIndex() {
    index?.saveIfWorthwhile(names)
  }
}
