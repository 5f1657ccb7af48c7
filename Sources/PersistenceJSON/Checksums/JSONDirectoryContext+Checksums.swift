import PersistenceDriver

extension JSONDirectoryContext {
  /// Records the checksums of all record files as they are now: edits by hand become what the store knows.
  ///
  /// A file that cannot be read as a record gets no checksum.
  ///
  /// - Returns: The number of files with a checksum.
  /// - Throws: ``PersistenceError`` if the store cannot be read or written.
  @discardableResult
  public func recordChecksums() throws -> Int {
    var count = 0
    try committing { source, catalog in
      var entries = [ChecksumLedger.mark]
      var left = Set(try source.names(in: ChecksumLedger.folderName))
      for schema in catalog.schemas {
        guard let model = try catalog.model(of: schema, location: self.location) else { continue }
        let files = RecordFiles(schema, in: model, of: source, location: self.location)
        let row = RowBuffer(count: schema.fields.count)
        var ledger = ChecksumLedger(EmptyFiles(source.store))
        for name in try files.names() {
          do {
            guard let text = try source.read(name, in: files.folder), let status = text.status else {
              continue
            }
            try files.fill(row, from: text.bytes)
            try files.check(try row.withRow { try RecordKey(of: $0, in: schema) }, name)
            try ledger.set(Checksum(text.bytes, status), of: name, in: files.folder)
            count += 1
          } catch let error as PersistenceError where error.code == .damaged {
            continue
          }
        }
        entries += ledger.entries
      }
      // Every commit leaves a catalog, also one in a store without models.
      let (control, name) = (StoreFolder.controlName, StoreFolder.catalogName)
      if try !source.exists(name, in: control) {
        entries.append(Journal.Entry(folder: control, file: name, text: try catalog.text()))
      }
      for entry in entries { left.remove(entry.file) }
      return entries + left.map { Journal.Entry(folder: ChecksumLedger.folderName, file: $0) }
    }
    return count
  }

  /// Begins or ends to keep checksums.
  func setChecksums(_ isWanted: Bool) throws {
    if isWanted {
      try recordChecksums()
    } else {
      try committing(leaving: [ChecksumLedger.folderName]) { source, _ in
        try source.names(in: ChecksumLedger.folderName).map {
          Journal.Entry(folder: ChecksumLedger.folderName, file: $0)
        }
      }
    }
  }
}

/// A source without files, for a ledger that begins anew.
private final class EmptyFiles: RecordSource {
  let store: StoreFolder
  var version: UInt64 { 0 }

  init(_ store: StoreFolder) { self.store = store }

  func names(in folder: String) -> [String] { [] }
  func read(_ file: String, in folder: String) -> FileText? { nil }
  func exists(_ file: String, in folder: String) -> Bool { false }
  func status(of file: String, in folder: String) -> FileStatus? { nil }
}
