public import PersistenceDriver

extension JSONDirectoryContext: VerifiableContext {
  /// Reads every record file.
  ///
  /// If the store keeps checksums (``JSONDirectoryConfiguration/checksums``), it also tells a file that was edited by hand
  /// from one whose content the medium changed, and names the files that are gone.
  public func verify(_ report: (StoreFinding) throws -> Void) throws {
    try mappingErrors(location: location) {
      let (source, catalog) = try reading()
      let hasChecksums = try ChecksumLedger.isKept(in: source)
      for schema in catalog.schemas {
        guard let model = try catalog.model(of: schema, location: location) else { continue }
        let files = RecordFiles(schema, in: model, of: source, location: location)
        try RecordVerification(files: files, hasChecksums: hasChecksums).run(report)
      }
    }
  }
}
