import PersistenceDriver

/// Results that no path yields in order: the stored keys of the records, sorted once; the records are read page
/// by page.
final class SortedResults: StorageResults {
  let usesRandomAccess = false
  private let query: PreparedQuery
  private let keys: StoredKeys
  private let source: any ByteSource
  private let selection: [Int]?

  init(_ query: PreparedQuery, _ keys: StoredKeys, _ source: any ByteSource, selecting selection: [Int]?) {
    self.query = query
    self.keys = keys
    self.source = source
    self.selection = selection
  }

  func count() throws -> Int { max(0, keys.count - query.request.offset) }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    guard limit > 0, offset >= 0 else { return 0 }
    let first = min(keys.count, query.request.offset)
    let start = min(keys.count - first, offset) + first
    let end = start + min(limit, keys.count - start)
    guard start < end else { return 0 }
    return try source.withReader { reader in
      let access = RecordAccess(query.binding, reader, location: query.location)
      let row = reader.workspace.takeRow(query.binding.layout.count)
      let cursor = try reader.takeCursor(in: .records)
      let selected = selection.map { SelectedFields($0, copying: reader.lendsCopies) }
      let read = Set(selection ?? []).sorted()
      defer {
        reader.workspace.giveBack(row)
        reader.giveBack(cursor)
      }
      for index in start..<end {
        try keys.withKey(at: index) { key in
          let record: ByteEntry
          if let place = keys.place(at: index) {
            record = ByteEntry(key: key, value: place)
          } else if let found = try cursor.find(key) {
            record = found
          } else {
            throw PersistenceError.damaged("a record of a result is gone")
              .at(model: query.binding.declared.name, location: query.location)
          }
          guard let selected else { return try access.lend(record, row, body) }
          try access.fill(row, from: record, only: read)
          try selected.lend(row, body)
        }
      }
      return end - start
    }
  }
}
