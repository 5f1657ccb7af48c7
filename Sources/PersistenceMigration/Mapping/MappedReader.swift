import PersistenceDriver
import PersistenceDriverSupport

/// One model of a source, read as the destination is to have it: for comparing the two.
///
/// Where records may be put aside, those that cannot be read or carried over are passed over.
final class MappedReader: StorageReader {
  private let route: ModelRoute
  private let snapshot: any StorageSnapshot
  private let passesOver: Bool

  init(_ route: ModelRoute, _ snapshot: any StorageSnapshot, passesOver: Bool) {
    self.route = route
    self.snapshot = snapshot
    self.passesOver = passesOver
  }

  func catalog() throws -> [ModelSchema] { [route.destination] }

  func schema(named name: String) throws -> ModelSchema? { try schemaFromCatalog(named: name) }

  func unmappedObjects() throws -> [UnmappedObject] { [] }

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
    return route.mapper.isIdentity && !passesOver
      ? results : MappedResults(results, route.mapper, passesOver: passesOver)
  }

  func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try fetchWholeRows(request, selecting: positions)
  }

  func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] { try aggregateByScanning(request) }

  func plan(for request: FetchRequest) throws -> QueryPlan { try snapshot.plan(for: whole(request)) }

  func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try planForWholeRows(request, selecting: positions)
  }

  /// The same request to the source: only whole models are read.
  private func whole(_ request: FetchRequest) throws -> FetchRequest {
    guard request.predicate == nil, request.order.isEmpty, request.limit == nil, request.offset == 0 else {
      throw PersistenceError.unsupported("answer other requests than for whole models", by: "a mapped source")
    }
    return try FetchRequest(route.source)
  }
}
