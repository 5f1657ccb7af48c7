import PersistenceDriver
import PersistenceDriverSupport

/// A reader that maps one model of the source, for comparison with the destination.
final class MappedReader: StorageReader {
  private let mapper: RecordMapper
  private let snapshot: any StorageSnapshot
  private let skipsRejects: Bool

  /// Creates a reader that can skip records that cannot be read or mapped.
  init(_ mapper: RecordMapper, _ snapshot: any StorageSnapshot, skipsRejects: Bool) {
    self.mapper = mapper
    self.snapshot = snapshot
    self.skipsRejects = skipsRejects
  }

  func catalog() throws -> [ModelSchema] { [mapper.destination] }

  func schema(named name: String) throws -> ModelSchema? { try schemaFromCatalog(named: name) }

  func unmappedObjects() throws -> [UnmappedObject] { [] }

  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    guard !mapper.isIdentity else { return try snapshot.find(key, in: mapper.source, body) }
    var mapper = mapper
    let target = RowBuffer(count: mapper.destination.fields.count)
    return try snapshot.find(key, in: mapper.source) { row in
      try mapper.map(row, into: target)
      try target.withRow(body)
    }
  }

  func count(_ request: FetchRequest) throws -> Int { try snapshot.count(whole(request)) }

  func fetch(_ request: FetchRequest) throws -> any StorageResults {
    let results = try snapshot.fetch(whole(request))
    return mapper.isIdentity && !skipsRejects
      ? results : MappedResults(results, mapper, skipsRejects: skipsRejects)
  }

  func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try fetchWholeRows(request, selecting: positions)
  }

  func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] { try aggregateByScanning(request) }

  func plan(for request: FetchRequest) throws -> QueryPlan { try snapshot.plan(for: whole(request)) }

  func cost(of change: SchemaChange) throws -> EvolutionCost { try costOfCopying(change) }

  func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] { [] }

  func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try planForWholeRows(request, selecting: positions)
  }

  /// The request for the whole model in the source.
  private func whole(_ request: FetchRequest) throws -> FetchRequest {
    guard request.predicate == nil, request.order.isEmpty, request.limit == nil, request.offset == 0 else {
      throw PersistenceError.unsupported("answer requests for parts of a model", by: "a mapped source")
    }
    return try FetchRequest(mapper.source)
  }
}
