import PersistenceDriver

/// A snapshot of a JSON directory: a pinned version and its catalog.
final class JSONDirectorySnapshot: StorageSnapshot, JSONDirectoryReader {
  let location: String
  private let view: VersionView
  private let catalogOfView: Catalog

  init(_ store: StoreFolder, location: String) throws {
    self.location = location
    view = try VersionView(store)
    catalogOfView = try view.catalog()
  }

  func reading() throws -> (source: any RecordSource, catalog: Catalog) { (view, catalogOfView) }
}
