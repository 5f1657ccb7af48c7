import PersistenceDriver

/// One model of a source, read as the destination is to have it: for comparing the two.
///
/// Records that the mapping cannot carry over are passed over; they were put aside.
final class MappedReader: StorageReader {
  private let route: ModelRoute
  private let snapshot: any StorageSnapshot

  init(_ route: ModelRoute, _ snapshot: any StorageSnapshot) {
    self.route = route
    self.snapshot = snapshot
  }

  func catalog() throws -> [ModelSchema] { [route.destination] }

  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    guard !route.mapper.isIdentity else { return try snapshot.find(key, in: route.source, body) }
    var mapper = route.mapper
    let target = RowBuffer(count: route.destination.fields.count)
    return try snapshot.find(key, in: route.source) { row in
      try mapper.map(row, into: target)
      try target.withRow(body)
    }
  }

  func count(_ request: FetchRequest) throws -> Int { try snapshot.count(whole(request)) }

  func fetch(_ request: FetchRequest) throws -> any StorageResults {
    let results = try snapshot.fetch(whole(request))
    return route.mapper.isIdentity ? results : MappedResults(results, route.mapper)
  }

  func plan(for request: FetchRequest) throws -> QueryPlan { try snapshot.plan(for: whole(request)) }

  /// The same request to the source: only whole models are read.
  private func whole(_ request: FetchRequest) throws -> FetchRequest {
    guard request.predicate == nil, request.order.isEmpty, request.limit == nil, request.offset == 0 else {
      throw PersistenceError.unsupported("answer other requests than for whole models", by: "a mapped source")
    }
    return try FetchRequest(route.source)
  }
}

/// Records of a source as the destination is to have them.
private final class MappedResults: StorageResultsWrapper {
  let wrapped: any StorageResults
  private let mapper: RecordMapper

  init(_ wrapped: any StorageResults, _ mapper: RecordMapper) {
    self.wrapped = wrapped
    self.mapper = mapper
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    var mapper = mapper
    let target = RowBuffer(count: mapper.destination.fields.count)
    return try wrapped.read(from: offset, limit: limit) { row in
      do {
        try mapper.map(row, into: target)
      } catch let error as PersistenceError where error.code == .encodingFailed {
        return
      }
      try target.withRow(body)
    }
  }
}
