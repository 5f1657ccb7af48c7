import PersistenceDriver
import PersistenceDriverSupport

/// What the context, its snapshots and its transactions share: reading the records of a source.
protocol JSONDirectoryReader: StorageReader {
  /// The store, for messages.
  var location: String { get }

  /// The files and the catalog to read.
  func reading() throws -> (source: any RecordSource, catalog: Catalog)

  /// Runs a closure that reads one record, once or twice: the last time counts.
  func readingOne<Result>(_ body: (any RecordSource, Catalog) throws -> Result) throws -> Result
}

extension JSONDirectoryReader {
  /// The schemas of all models, sorted by name.
  public func catalog() throws -> [ModelSchema] {
    try mappingErrors(location: location) { try reading().catalog.schemas }
  }

  /// The model's schema, from the catalog file.
  public func schema(named name: String) throws -> ModelSchema? { try schemaFromCatalog(named: name) }

  /// None: every record file belongs to a model.
  public func unmappedObjects() throws -> [UnmappedObject] { [] }

  /// Looks a record up: one file is opened.
  public func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try key.validate(for: schema)
    let row = RowBuffer(count: schema.fields.count)
    let isFound = try mappingErrors(location: location) {
      try readingOne { source, catalog in
        guard let folder = try catalog.folder(of: schema, location: location) else { return false }
        return try RecordFiles(schema, in: folder, of: source, location: location).find(key, into: row)
      }
    }
    if isFound { try row.withRow(body) }
    return isFound
  }

  /// How many rows a request has: without a predicate the files are counted, with one they are read.
  public func count(_ request: FetchRequest) throws -> Int {
    try mappingErrors(location: location) {
      let (source, catalog) = try reading()
      guard let folder = try catalog.folder(of: request.schema, location: location) else { return 0 }
      if request.predicate == nil, request.after == nil {
        let all = try RecordFiles(request.schema, in: folder, of: source, location: location).names().count
        return min(max(0, all - request.offset), request.limit ?? Int.max)
      }
      return try results(request, source, catalog).count()
    }
  }

  /// The rows of a request: the names of its files are read now, the files when their page is.
  public func fetch(_ request: FetchRequest) throws -> any StorageResults {
    try mappingErrors(location: location) {
      let (source, catalog) = try reading()
      return try results(request, source, catalog)
    }
  }

  /// The rows of a request, with some fields: where the index keeps all of them, no file is opened for it.
  public func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try request.schema.requirePositions(positions)
    return try mappingErrors(location: location) {
      let (source, catalog) = try reading()
      return SelectedResults(
        try results(request, source, catalog, needing: positions), positions: positions)
    }
  }

  /// Computes by looking at every row: where the index keeps all fields that are needed, no file is opened for it.
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

  /// A scan of the files in key order, or what the index spares of it.
  public func plan(for request: FetchRequest) throws -> QueryPlan {
    try mappingErrors(location: location) {
      _ = try reading().catalog.folder(of: request.schema, location: location)
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
    let files = try catalog.folder(of: request.schema, location: location).map {
      RecordFiles(request.schema, in: $0, of: source, location: location).withIndex
    }
    return try JSONDirectoryResults(request, files, needing: positions, location: location)
  }
}
