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

/// Mapped records of the source.
///
/// A skipped record counts as read, but does not reach the closure.
private final class MappedResults: StorageResultsWrapper {
  let wrapped: any StorageResults
  private let mapper: RecordMapper
  private let skipsRejects: Bool

  init(_ wrapped: any StorageResults, _ mapper: RecordMapper, skipsRejects: Bool) {
    self.wrapped = wrapped
    self.mapper = mapper
    self.skipsRejects = skipsRejects
  }

  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    var mapper = mapper
    let target = RowBuffer(count: mapper.destination.fields.count)
    // After a failed page, its rows are read one at a time to find the unreadable one.
    var (done, singles) = (0, 0)
    while done < limit {
      let wanted = singles > 0 ? 1 : limit - done
      var passed = 0
      do {
        let read = try wrapped.read(from: offset + done, limit: wanted) { row in
          try pass(row, by: &mapper, target, body)
          passed += 1
        }
        done += read
        singles = max(0, singles - 1)
        if read < wanted { return done }
      } catch let stopped as Stopped {
        throw stopped.error
      } catch let error as PersistenceError where skipsRejects && error.concernsOneRecord {
        if wanted > 1 {
          done += passed
          singles = wanted - passed
        } else {
          done += 1
          singles = max(0, singles - 1)
          if offset + done >= (try wrapped.count()) { return done }
        }
      }
    }
    return done
  }

  private func pass(
    _ row: borrowing Row, by mapper: inout RecordMapper, _ target: RowBuffer,
    _ body: (borrowing Row) throws -> Void
  ) throws {
    do {
      guard !mapper.isIdentity else { return try body(row) }
      do {
        try mapper.map(row, into: target)
      } catch let error as PersistenceError where skipsRejects && error.concernsOneRecord {
        return
      }
      try target.withRow(body)
    } catch {
      throw Stopped(error: error)
    }
  }

  /// An error of the closure or of the mapping, as opposed to one of reading.
  private struct Stopped: Error {
    let error: any Error
  }
}
