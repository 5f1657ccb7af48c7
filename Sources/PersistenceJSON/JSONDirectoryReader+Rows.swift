import PersistenceDriver
import PersistenceDriverSupport

extension JSONDirectoryReader {
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

  func results(
    _ request: FetchRequest, _ source: any RecordSource, _ catalog: Catalog, needing positions: [Int]? = nil
  ) throws -> JSONDirectoryResults {
    let files = try catalog.model(of: request.schema, location: location).map {
      RecordFiles(request.schema, in: $0, of: source, location: location).withIndex
    }
    return try JSONDirectoryResults(request, files, needing: positions, location: location)
  }
}
