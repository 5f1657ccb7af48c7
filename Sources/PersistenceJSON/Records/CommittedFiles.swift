/// The current files of a store, for the holder of the writer lock.
final class CommittedFiles: RecordSource {
  let store: StoreFolder

  init(_ store: StoreFolder) { self.store = store }

  var version: UInt64 { get throws { try store.sequence.committed } }

  func names(in folder: String) throws -> [String] { try store.folder(folder)?.names() ?? [] }

  func read(_ file: String, in folder: String) throws -> FileText? {
    // One path: it always refers to the current folder, without a check of the folder itself.
    try store.contents(of: "\(folder)/\(file)", in: store.root).map {
      FileText(bytes: $0.bytes, status: $0.status)
    }
  }

  func exists(_ file: String, in folder: String) throws -> Bool { try status(of: file, in: folder) != nil }

  func status(of file: String, in folder: String) throws -> FileStatus? {
    try store.root.status(of: "\(folder)/\(file)")
  }

  /// The schemas of the store's models.
  func catalog() throws -> Catalog {
    let (folder, file) = (StoreFolder.controlName, StoreFolder.catalogName)
    if let status = try store.control.status(of: file), let known = store.catalog(of: status) { return known }
    guard let text = try read(file, in: folder), let status = text.status else { return try Catalog(self) }
    let catalog = try Catalog(text: text.bytes)
    store.keep(catalog, of: status)
    return catalog
  }
}
