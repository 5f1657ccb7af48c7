package import PersistenceDriver
import PersistenceDriverSupport

extension KeyValueTransaction {
  package func catalog() throws -> [ModelSchema] {
    try requireOpen()
    return try store.catalog(writer)
  }

  package func unmappedObjects() throws -> [UnmappedObject] { [] }

  package func schema(named name: String) throws -> ModelSchema? {
    try requireOpen()
    let name = StoredName(name)
    if !changes.models.isEmpty, let model = changes.models[name] { return model.schema }
    if !changes.dropped.isEmpty, changes.dropped.contains(name) { return nil }
    return try store.schema(name, writer)
  }

  package func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try requireOpen()
    try key.validate(for: schema)
    guard let binding = try binding(schema) else { return false }
    return try RecordAccess.find(key, binding, writer, writer.workspace, location: store.location, body)
  }

  package func count(_ request: FetchRequest) throws -> Int {
    try requireOpen()
    guard let binding = try binding(request.schema), request.limit != 0 else { return 0 }
    try flushCounts()
    let query = try PreparedQuery(request, binding, writer, location: store.location, needs: .count)
    return try query.count(writer)
  }

  package func fetch(_ request: FetchRequest) throws -> any StorageResults { try fetch(request, nil) }

  package func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try fetch(request, positions)
  }

  private func fetch(_ request: FetchRequest, _ positions: [Int]?) throws -> any StorageResults {
    try request.schema.requirePositions(positions ?? [])
    try requireOpen()
    guard let binding = try binding(request.schema), request.limit != 0 else { return EmptyResults() }
    try flushCounts()
    let needs = AccessNeeds(of: request, selecting: positions)
    let query = try PreparedQuery(request, binding, writer, location: store.location, needs: needs)
    return try query.results(writer, TransactionSource.View(source), selecting: positions)
  }

  package func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try requireOpen()
    guard let binding = try binding(request.rows.schema), request.rows.limit != 0 else {
      return try AggregateFold(request).groups()
    }
    try flushCounts()
    return try AggregateReading(request: request, binding: binding, reader: writer, location: store.location)
      .groups()
  }

  package func plan(for request: FetchRequest) throws -> QueryPlan { try plan(for: request, nil) }

  package func plan(for request: FetchRequest, selecting positions: [Int]) throws -> QueryPlan {
    try plan(for: request, positions)
  }

  private func plan(for request: FetchRequest, _ positions: [Int]?) throws -> QueryPlan {
    try requireOpen()
    guard let binding = try binding(request.schema) else {
      return try store.plan(for: request, selecting: positions, writer)
    }
    try flushCounts()
    let needs = AccessNeeds(of: request, selecting: positions)
    return try PreparedQuery(request, binding, writer, location: store.location, needs: needs)
      .queryPlan(selecting: positions)
  }
}
