import PersistenceDriver
import PersistenceDriverSupport

extension JSONDirectoryTransaction {
  /// Writes all records of a model anew, without keeping their texts in memory.
  func rewrite(_ change: SchemaChange, _ files: RecordFiles) throws {
    let target = change.target
    // The positions of unique indexes differ between the schemas.
    for (file, exists) in pending.names(in: files.folder) where exists {
      let name = PendingFiles.Name(folder: files.folder, file: file)
      guard var changed = pending.files[name] else { continue }
      changed.unique = []
      pending.set(name, changed)
    }
    let entries = try files.entries()
    guard !entries.isEmpty else { return }
    let spool = try Spool(store)
    let unique = UniqueValues.indexes(of: target)
    let (old, changed) = (RowBuffer(count: change.stored.fields.count), RowChange(change))
    for (done, entry) in entries.enumerated() {
      try StoreProgress.report(done)
      _ = try files.read(entry, into: old)
      try old.withRow { stored in
        try changed.withRow(from: stored) { row in
          try target.validate(row)
          let values = try UniqueValues.values(of: row, in: target)
          for (number, index) in unique.enumerated() {
            guard let values = values[number],
              let holder = pending.holder(of: values, index: number, in: files.folder), holder != entry.file
            else { continue }
            throw violation(
              values, of: index.index, in: target, entry.key, holder: "\(files.folder)/\(holder)")
          }
          let text = try spool.add(try RecordText.text(of: row, in: target))
          pending.set(
            PendingFiles.Name(folder: files.folder, file: entry.file),
            PendingFiles.Pending(spooled: text, unique: values))
        }
      }
    }
  }
}
