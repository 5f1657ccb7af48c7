import PersistenceCore

/// Everything that a store contains, as its driver reads it: the catalog and the rows of all models, also reserved ones.
struct StoredContent: Equatable {
  let catalog: [ModelSchema]
  let rows: [[[PersistentValue]]]

  init(_ storage: any StorageContext) throws {
    let snapshot = try storage.snapshot()
    catalog = try snapshot.catalog()
    rows = try catalog.map { try RowStore.rows(of: FetchRequest($0), from: snapshot) }
  }

  /// The schema of a model; nil if the store does not contain it.
  func schema(_ name: String) -> ModelSchema? { catalog.first { $0.name == name } }

  /// The rows of the model with a name; empty if the store does not contain it.
  func rows(of name: String) -> [[PersistentValue]] {
    catalog.firstIndex { $0.name == name }.map { rows[$0] } ?? []
  }
}

extension Repository {
  /// Opens the store of this repository with a schema, as the next version of an app does.
  @discardableResult
  func evolved(_ schema: any StoreSchema.Type) throws -> Repository {
    try Repository(context, schema: schema)
  }
}

extension StorageReader {
  /// The names of the models of apps.
  func modelNames() throws -> [String] {
    try catalog().filter { !$0.isReserved }.map(\.name)
  }
}
