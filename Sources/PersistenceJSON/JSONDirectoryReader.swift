import PersistenceDriver
import PersistenceDriverSupport

/// The reading that the context, its snapshots and its transactions share.
protocol JSONDirectoryReader: StorageReader {
  /// The store, for messages.
  var location: String { get }

  /// The files and the catalog to read.
  func reading() throws -> (source: any RecordSource, catalog: Catalog)

  /// Runs a closure that reads one record; it may run up to three times, and the last run counts.
  func readingOne<Result>(_ body: (any RecordSource, Catalog) throws -> Result) throws -> Result

  /// The results for the caller; those of a transaction end with it.
  func lasting(_ results: any StorageResults) -> any StorageResults
}

extension JSONDirectoryReader {
  func lasting(_ results: any StorageResults) -> any StorageResults { results }

  /// The schemas of all models, sorted by name.
  public func catalog() throws -> [ModelSchema] {
    try mappingErrors(location: location) { try reading().catalog.schemas }
  }

  /// The model's schema, from the catalog file.
  public func schema(named name: String) throws -> ModelSchema? { try schemaFromCatalog(named: name) }

  /// Empty: every record file belongs to a model.
  public func unmappedObjects() throws -> [UnmappedObject] { [] }

  /// A scan of the files in key order, or of those that the index leaves.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    try mappingErrors(location: location) {
      _ = try reading().catalog.model(of: request.schema, location: location)
    }
    return try RecordQuery(request, IndexedFields(request.schema)).plan
  }

  /// The plan for whole rows.
  public func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try planForWholeRows(request, selecting: positions)
  }

  func readingOne<Result>(_ body: (any RecordSource, Catalog) throws -> Result) throws -> Result {
    let (source, catalog) = try reading()
    return try body(source, catalog)
  }
}
