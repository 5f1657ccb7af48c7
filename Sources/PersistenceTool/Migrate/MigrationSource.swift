import PersistenceDriver

/// Opens the store that is copied so that all that it holds can be read.
struct MigrationSource {
  private let stores: ToolStores

  init(_ stores: ToolStores) { self.stores = stores }

  /// Opens a store; where models are named that its catalog lacks, once more with views of these names.
  func open(_ url: String, models: [String]) throws -> any StorageContext {
    let store = try stores.openForReading(url, surveying: true)
    guard !models.isEmpty else { return store }
    do {
      let known = Set(try store.catalog().map { StoredName($0.name) })
      let views = Set(
        try store.unmappedObjects().filter { [.view, .virtualTable].contains($0.kind) }.map {
          StoredName($0.name)
        })
      let wanted = models.filter { !known.contains(StoredName($0)) && views.contains(StoredName($0)) }
      guard !wanted.isEmpty else { return store }
      try store.close()
      return try stores.openForReading(url, surveying: true, views: wanted)
    } catch {
      try? store.close()  // The failure in hand says more than a second one could.
      throw error
    }
  }
}
