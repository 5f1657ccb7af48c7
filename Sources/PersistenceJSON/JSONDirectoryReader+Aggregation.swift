import PersistenceDriver
import PersistenceDriverSupport

extension JSONDirectoryReader {
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
}
