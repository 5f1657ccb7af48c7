import PersistenceDriver

/// The files of a store as they are, for the one who holds the writer's lock.
final class CommittedFiles: RecordSource {
  let store: StoreFolder

  init(_ store: StoreFolder) { self.store = store }

  func names(in folder: String) throws -> [String] { try store.folder(folder)?.names() ?? [] }

  func read(_ file: String, in folder: String) throws -> FileText? {
    // By one path: the folder need not be looked at for itself to be the one that is there now.
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
    if let status = try store.control.status(of: StoreFolder.catalogName),
      let known = store.catalog(of: status)
    {
      return known
    }
    return try Catalog(self)
  }
}
