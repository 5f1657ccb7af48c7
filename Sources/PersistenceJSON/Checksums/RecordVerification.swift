import PersistenceDriver

/// Checks the record files of one model in one version of the store.
struct RecordVerification {
  let files: RecordFiles
  let hasChecksums: Bool

  func run(_ report: (StoreFinding) throws -> Void) throws {
    var checksums =
      hasChecksums
      ? try ChecksumLedger.checksums(of: files.folder, in: files.source) { error in
        try report(StoreFinding(.damaged, files.folder, error.message))
      } : [:]
    let row = RowBuffer(count: files.schema.fields.count)
    for name in try files.names().sorted() {
      try ReadInterruption.check()
      let checksum = checksums.removeValue(forKey: name)
      if let finding = try finding(name, checksum, row) { try report(finding) }
    }
    for name in checksums.keys.sorted() {
      try report(
        StoreFinding(.missing, object(name), "the store wrote this record; it was deleted by hand, or lost"))
    }
  }

  private func object(_ name: String) -> String { "\(files.folder)/\(name)" }

  private func finding(_ name: String, _ checksum: Checksum?, _ row: RowBuffer) throws -> StoreFinding? {
    let text: FileText
    do {
      text = try files.source.readListed(name, in: files.folder)
    } catch let error as PersistenceError {
      return StoreFinding(error.code == .changedOutside ? .edited : .damaged, object(name), error.message)
    } catch let failure as SystemFailure {
      return StoreFinding(.damaged, object(name), failure.error.message)
    }
    var reason: String?
    do {
      try files.fill(row, from: text.bytes)
      try files.check(try row.withRow { try RecordKey(of: $0, in: files.schema) }, name)
    } catch let error as PersistenceError {
      reason = error.message
    }
    guard hasChecksums else { return reason.map { StoreFinding(.damaged, object(name), $0) } }
    let (kind, state) = state(of: text, checksum)
    if let reason {
      return StoreFinding(.damaged, object(name), "\(reason)\(state.map { "; \($0)" } ?? "")")
    }
    return state.map { StoreFinding(kind, object(name), $0) }
  }

  /// What the checksum shows; nil if the text is the one that the store wrote.
  private func state(of text: FileText, _ checksum: Checksum?) -> (StoreFinding.Kind, String?) {
    guard let checksum else {
      return (.unrecorded, "the store has no checksum of this file: it was added by hand")
    }
    guard Checksum.digest(text.bytes) != checksum.digest else { return (.unrecorded, nil) }
    guard text.written.map(checksum.isUntouched) ?? true else {
      return (.edited, "the file was edited by hand after the store wrote it")
    }
    return (
      .damaged, "the text is not what the store wrote, though size and time are: the medium has damaged it"
    )
  }
}
