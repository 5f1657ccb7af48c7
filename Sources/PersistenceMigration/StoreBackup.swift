package import PersistenceDriver
import PersistenceDriverSupport

/// Backs up and restores stores, for repositories and for the command-line tool.
package enum StoreBackup {
  /// Copies everything that one store contains into another.
  package static func copy(
    _ source: any StorageContext, to destination: any StorageContext, replacesContent: Bool = false,
    verification: MigrationOptions.Verification, _ progress: (StoreProgress) throws -> Void
  ) throws -> MigrationReport {
    let isUnfinished = try destination.catalog().contains { schema in
      try StoredName(schema.name) == StoredName(ReservedModel.fillLedger)
        && destination.count(FetchRequest(schema)) > 0
    }
    // An unfinished copy is removed with what it copied. Anything else may be of value, and refuses the copy.
    var options = MigrationOptions(start: isUnfinished ? .restart : .new, verification: verification)
    options.copiesEverything = true
    options.clearsDestination = replacesContent
    var report = try Migration(from: source, to: destination, options: options).run(progress)
    report.models.removeAll { ReservedModel.isReserved($0.name) }
    return report
  }

  /// A URL that opens an existing store only, if the engine of the URL can.
  static func existing(_ text: String, _ engines: [StorageEngine]) throws -> String {
    let url = try StoreURL(text)
    guard url.options["create"] == nil,
      engines.first(where: { $0.scheme == url.scheme })?.options.contains(where: { $0.name == "create" })
        == true
    else { return text }
    return text + (text.contains("?") ? "&" : "?") + "create=false"
  }

  static func withStore<Result>(
    _ url: String, _ engines: [StorageEngine], _ body: (any StorageContext) throws -> Result
  ) throws -> Result {
    let context = try StorageEngine.open(url, engines: engines, monitoring: Monitoring())
    guard let store = context.asStorageContext else {
      throw PersistenceError.unsupported("hold a backup", by: StoreURL.redacted(url))
    }
    do {
      let result = try body(store)
      try store.close()
      return result
    } catch {
      try? store.close()
      throw error
    }
  }
}
