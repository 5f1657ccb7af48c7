import PersistenceDriver
import PersistenceDriverSupport

/// The reading that the context, its snapshots and its transactions share.
protocol JSONDirectoryReader: StorageReader {
  /// The store, for messages.
  var location: String { get }

  /// The files and the catalog to read.
  func reading() throws -> (source: any RecordSource, catalog: Catalog)

  /// Runs a closure that reads one record; it may run twice, and the last run counts.
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

  /// Looks up a record, which opens one file.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try key.validate(for: schema)
    let row = RowBuffer(count: schema.fields.count)
    let isFound = try mappingErrors(location: location) {
      try readingOne { source, catalog in
        guard let model = try catalog.model(of: schema, location: location) else { return false }
        return try RecordFiles(schema, in: model, of: source, location: location).find(key, into: row)
      }
    }
    if isFound { try row.withRow(body) }
    return isFound
  }

  /// The number of rows of a request.
  ///
  /// Without a predicate it counts the files; with one it reads them.
  public func count(_ request: FetchRequest) throws -> Int {
    try mappingErrors(location: location) {
      let (source, catalog) = try reading()
      guard let model = try catalog.model(of: request.schema, location: location) else { return 0 }
      if request.predicate == nil, request.after == nil {
        let all = try RecordFiles(request.schema, in: model, of: source, location: location).names().count
        return min(max(0, all - request.offset), request.limit ?? Int.max)
      }
      return try results(request, source, catalog).count()
    }
  }

  /// The rows of a request.
  ///
  /// It lists the files now, and reads them page by page.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    try mappingErrors(location: location) {
      let (source, catalog) = try reading()
      return lasting(try results(request, source, catalog))
    }
  }

  /// The rows of a request with selected fields.
  ///
  /// If the index contains all of them, valid entries need no file.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try request.schema.requirePositions(positions)
    return try mappingErrors(location: location) {
      let (source, catalog) = try reading()
      return lasting(
        SelectedResults(
          try results(request, source, catalog, needing: positions), positions: positions))
    }
  }

  /// Aggregates by reading every row.
  ///
  /// If the index contains all fields needed, valid entries need no file.
  public func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    var fold = try AggregateFold(request)
    let names = request.grouping + request.aggregates.compactMap(\.field)
    let positions = names.compactMap { request.rows.schema.position(of: $0) }
    try mappingErrors(location: location) {
      let (source, catalog) = try reading()
      let rows = try results(request.rows, source, catalog, needing: positions)
      _ = try rows.read(from: 0, limit: Int.max) { try fold.add($0) }
    }
    return try fold.groups()
  }

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

  private func results(
    _ request: FetchRequest, _ source: any RecordSource, _ catalog: Catalog, needing positions: [Int]? = nil
  ) throws -> JSONDirectoryResults {
    let files = try catalog.model(of: request.schema, location: location).map {
      RecordFiles(request.schema, in: $0, of: source, location: location).withIndex
    }
    return try JSONDirectoryResults(request, files, needing: positions, location: location)
  }
}
