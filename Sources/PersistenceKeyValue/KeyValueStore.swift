package import PersistenceDriver
import PersistenceDriverSupport

/// Records, indexes and a catalog in an ordered byte store; every key-value engine uses it.
///
/// Each call receives a reader; the store keeps only a cache of models. An instance belongs to one store and
/// is thread-safe.
package final class KeyValueStore: Sendable {
  /// The store's location, for messages.
  package let location: String

  let cache: CatalogCache
  let indexBuilding: IndexBuilding

  /// The index build in progress.
  private let build: Lock<IndexBuild?>

  package init(location: String, indexBuilding: IndexBuilding) {
    self.location = location
    self.indexBuilding = indexBuilding
    cache = CatalogCache()
    build = Lock(nil)
  }

  /// Creates an instance for the same store that shares only the catalog cache.
  ///
  /// A reader that uses its own instance shares no reference counts with others on the lookup path.
  package init(_ store: KeyValueStore) {
    location = String(decoding: Array(store.location.utf8), as: UTF8.self)  // characters of its own
    cache = store.cache
    indexBuilding = store.indexBuilding
    build = Lock(nil)  // is the writer's, which uses the other
  }

  /// Takes the index build of a model if this process has begun it.
  func takeBuild(of model: StoredModel) -> IndexBuild? {
    let kept = build.withLock { build in
      defer { build = nil }
      return build
    }
    guard let kept, model.indexing == .begun(kept.token) else { return nil }
    return kept
  }

  /// Keeps an index build for the next transaction.
  func keep(_ build: IndexBuild) { self.build.withLock { $0 = build } }
}

extension KeyValueStore {
  /// The binding of a declared schema; nil if the store does not contain the model.
  func binding(_ schema: ModelSchema, _ reader: any ByteReader) throws -> ModelBinding? {
    if let known = cache.binding(schema, version: reader.version) { return known }
    let generation = try cachedGeneration(reader)
    if generation != nil, let known = cache.binding(schema, version: reader.version) { return known }
    let name = StoredName(schema.name)
    guard let model = try model(name, generation, { try Catalog.model(like: schema, reader) }) else {
      return nil
    }
    do {
      try schema.requireCompatible(with: model.schema, location: location)
    } catch {
      guard try contains(model, reader) else { return nil }
      throw error
    }
    let binding = ModelBinding(model, declared: schema)
    if let generation { cache.insert(binding, of: generation) }
    return binding
  }

  /// The schema of a model; nil if the store does not contain it.
  package func schema(_ name: StoredName, _ reader: any ByteReader) throws -> ModelSchema? {
    if cache.lacks(name, version: reader.version) { return nil }
    let generation = try cachedGeneration(reader)
    guard let model = try model(name, generation, { try Catalog.model(name, reader) }) else {
      // Each write asks for the references of the store, which most stores do not have.
      if let generation, ReservedModel.isReserved(name.text) { cache.insert(absent: name, of: generation) }
      return nil
    }
    return try contains(model, reader) ? model.schema : nil
  }

  /// Whether the reader's version contains a cached model.
  ///
  /// Definitions keep the generation, so the version may be older.
  private func contains(_ model: StoredModel, _ reader: any ByteReader) throws -> Bool {
    try located { try Catalog.contains(model, reader) }
  }

  /// The generation of a reader's version; nil if the cache is not valid for it.
  private func cachedGeneration(_ reader: any ByteReader) throws -> UInt64? {
    let generation = try located { try Catalog.generation(reader) }
    return cache.record(reader.version, isOf: generation) ? generation : nil
  }

  /// A model of the store.
  ///
  /// The caller handles models that its own transaction has changed, so a model found here is committed.
  private func model(_ name: StoredName, _ generation: UInt64?, _ read: () throws -> StoredModel?) throws
    -> StoredModel?
  {
    if let generation, let known = cache.model(name, of: generation) { return known }
    guard let found = try located(read) else { return nil }
    if let generation { cache.insert([found], of: generation) }
    return found
  }

  /// Runs a closure and adds the store's location to its errors.
  func located<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PersistenceError {
      throw error.at(location: location)
    }
  }

  /// The schemas of all models, sorted by name.
  package func catalog(_ reader: any ByteReader) throws -> [ModelSchema] {
    try located {
      try Catalog.models(reader).map(\.schema).sorted { StoredName($0.name) < StoredName($1.name) }
    }
  }

  /// Looks up a record by its key.
  package func find(
    _ key: RecordKey, in schema: ModelSchema, _ reader: any ByteReader, _ body: (borrowing Row) throws -> Void
  ) throws -> Bool {
    try key.validate(for: schema)
    let workspace = reader.workspace
    guard let binding = try cache.binding(schema, for: reader, workspace) ?? binding(schema, reader) else {
      return false
    }
    return try RecordAccess.find(key, binding, reader, workspace, location: location, body)
  }

  /// The number of rows of a request.
  package func count(_ request: FetchRequest, _ reader: any ByteReader) throws -> Int {
    guard let binding = try binding(request.schema, reader), request.limit != 0 else { return 0 }
    return try PreparedQuery(request, binding, reader, location: location, needs: .count, cache: cache)
      .count(reader)
  }

  /// The rows of a request, whole or with some of their fields.
  package func results(
    _ request: FetchRequest, selecting positions: [Int]? = nil, _ source: any ByteSource
  ) throws -> any StorageResults {
    try request.schema.requirePositions(positions ?? [])
    return try source.withReader { reader in
      guard let binding = try binding(request.schema, reader), request.limit != 0 else {
        return EmptyResults()
      }
      let needs = AccessNeeds(of: request, selecting: positions)
      let query = try PreparedQuery(
        request, binding, reader, location: location, needs: needs, cache: cache)
      return try query.results(reader, source, selecting: positions)
    }
  }

  /// Passes on the rows of a request in one pass, and returns their number.
  package func passOn(
    _ request: FetchRequest, _ reader: any ByteReader, _ body: (borrowing Row) throws -> Void
  ) throws -> Int {
    if request.limit == 0 { return 0 }
    let workspace = reader.workspace
    let version = reader.version
    var passed = 0
    let plan =
      request.isPlannedAnew ? nil : workspace.directPlans.plan(for: request, version: version, cache)
    if let plan, try plan.passOn(request, reader, workspace, location: location, &passed, body) {
      return max(0, passed - request.offset)
    }
    guard let binding = try binding(request.schema, reader) else { return 0 }
    let query = try PreparedQuery(request, binding, reader, location: location, cache: cache)
    if plan == nil, let outline = query.directOutline {
      workspace.directPlans.keep(outline, binding, version: version, longestKey: reader.longestKey)
    }
    return try query.passOn(reader, after: passed, body)
  }

  /// Aggregates rows, as a whole or by groups.
  package func aggregate(_ request: AggregateRequest, _ reader: any ByteReader) throws -> [AggregateGroup] {
    guard let binding = try binding(request.rows.schema, reader), request.rows.limit != 0 else {
      return try AggregateFold(request).groups()
    }
    return try AggregateReading(
      request: request, binding: binding, reader: reader, location: location, cache: cache
    ).groups()
  }

  /// The plan of a request, for whole rows or some of their fields.
  package func plan(for request: FetchRequest, selecting positions: [Int]? = nil, _ reader: any ByteReader)
    throws -> QueryPlan
  {
    try request.schema.requirePositions(positions ?? [])
    guard let binding = try binding(request.schema, reader) else {
      return AccessPlanner(request, indexes: []).all()[0].queryPlan(for: request, isIndexOnly: false)
    }
    let needs = AccessNeeds(of: request, selecting: positions)
    return try PreparedQuery(request, binding, reader, location: location, needs: needs, cache: cache)
      .queryPlan(selecting: positions)
  }
}

extension AccessNeeds {
  /// The needs of a fetch: some fields of the rows, or all, in order.
  init(of request: FetchRequest, selecting positions: [Int]?) {
    self.init(fields: positions.map { $0.map { request.schema.fields[$0].name } }, isOrdered: true)
  }

  /// The needs of an update or delete: keys only, in order only if a limit or offset depends on it.
  static func keys(of request: FetchRequest) -> AccessNeeds {
    AccessNeeds(fields: [], isOrdered: request.limit != nil || request.offset != 0)
  }
}

/// The empty results of a model that the store does not contain.
final class EmptyResults: StorageResults {
  let usesRandomAccess = false
  func count() throws -> Int { 0 }
  func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int { 0 }
}
