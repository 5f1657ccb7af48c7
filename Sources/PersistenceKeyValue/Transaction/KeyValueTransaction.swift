package import PersistenceDriver
import PersistencePlanner
import PersistenceDriverSupport

/// A transaction on an ordered byte store: records, index entries, counts and catalog change together.
///
/// Whatever a call can refuse it refuses before it writes, so that a refused call leaves no trace (contract W4).
/// Where the store itself fails in the middle of a call, as when it is full, the transaction can only be given
/// up: every further call, and ``finish()``, throws what the store said.
package final class KeyValueTransaction: StorageTransaction {
  let store: KeyValueStore
  let writer: any ByteWriter
  private let source: TransactionSource
  let newEntries = NewEntries()
  /// The key of the record that is being written, of which there is one at a time.
  let writtenKey = ByteBuffer()
  @exclusivity(unchecked) private var isOpen = true
  @exclusivity(unchecked) private var failure: (any Error)?

  /// What the transaction has changed of the catalog and the counts: what a nested one puts back.
  private struct Changes {
    var models: [StoredName: StoredModel] = [:]
    /// The models that were dropped, and perhaps defined anew.
    var dropped: Set<StoredName> = []
    /// By how much the generation of the catalog grows.
    var generations: UInt64 = 0
    var counts: [UInt16: Int] = [:]
    var changedCounts: Set<UInt16> = []
  }

  private var changes = Changes()
  /// The generation of the catalog when this is committed.
  private var generation: UInt64 = 0

  /// By how much the number of records has changed of the model that was written to last, since it was.
  private struct Tally {
    let binding: ModelBinding
    var difference: Int
  }

  @exclusivity(unchecked) private var tally: Tally?
  private var bindings: [ObjectIdentifier: ModelBinding] = [:]
  @exclusivity(unchecked) private var lastBinding: ModelBinding?

  package init(_ store: KeyValueStore, _ writer: any ByteWriter) {
    self.store = store
    self.writer = writer
    source = TransactionSource(writer)
  }

  /// Writes what was kept back until the end.
  ///
  /// - Throws: What the store said where it failed before, also where the caller went on regardless.
  package func finish() throws {
    if let failure { throw failure }
    try attempt {
      try settleTally()
      for model in changes.changedCounts.sorted() {
        try writeCount(changes.counts[model] ?? 0, of: model)
      }
      guard changes.generations > 0 || !changes.models.isEmpty else { return }
      generation = try Catalog.generation(writer) + changes.generations
      if changes.generations > 0 { try Catalog.setGeneration(generation, writer) }
    }
  }

  /// Ends the transaction, after which its calls throw; where it was committed, its models become known to all.
  ///
  /// - Parameter version: The newest state of the store, asked for before anybody else could write; nil where the
  ///   transaction was not committed. A store may give the number of one that has changed nothing to the next.
  package func end(committedAs version: Int?) {
    isOpen = false
    source.end()
    guard let version else { return }
    if changes.generations == 0, version > writer.version { store.cache.noteSuccessor(of: writer.version) }
    guard !changes.models.isEmpty else { return }
    store.cache.adopt(Array(changes.models.values), of: generation)
  }
}

extension KeyValueTransaction {
  /// Makes sure that the transaction can be used.
  func requireOpen() throws {
    guard isOpen else { throw PersistenceError.closed("the transaction") }
    if let failure { throw failure }
  }

  /// Runs writes; where one fails, the transaction is of no more use.
  func attempt<Result>(_ body: () throws -> Result) throws -> Result {
    changed()
    do {
      return try body()
    } catch {
      throw failed(error)
    }
  }

  /// Notes that something is about to be written, so that results of before end.
  func changed() { source.changed() }

  /// Notes that a write failed, after which the transaction is of no more use.
  func failed(_ error: any Error) -> any Error {
    let located = (error as? PersistenceError)?.at(location: store.location) ?? error
    failure = located
    return located
  }

  /// The binding of a declared schema; nil where neither the store nor the transaction holds the model.
  func binding(_ schema: ModelSchema) throws -> ModelBinding? {
    if let last = lastBinding, last.declared.identity == schema.identity { return last }
    let found: ModelBinding?
    if let known = bindings[schema.identity] {
      found = known
    } else if let model = changes.models[StoredName(schema.name)] {
      try schema.requireCompatible(with: model.schema, location: store.location)
      found = ModelBinding(model, declared: schema)
      bindings[schema.identity] = found
    } else if changes.dropped.contains(StoredName(schema.name)) {
      found = nil
    } else {
      found = try store.binding(schema, writer)
    }
    lastBinding = found
    return found
  }

  /// The binding of a model that is written to.
  func writableBinding(_ schema: ModelSchema) throws -> ModelBinding {
    guard let binding = try changingBinding(schema) else {
      throw PersistenceError(
        .invalidRequest, "\(schema.name) was written to before it was defined", model: schema.name,
        location: store.location)
    }
    return binding
  }

  /// How many records a model has.
  func count(of binding: ModelBinding) throws -> Int {
    try settleTally()
    return try settledCount(of: binding)
  }

  private func settledCount(of binding: ModelBinding) throws -> Int {
    if let known = changes.counts[binding.model.number] { return known }
    let stored = try Catalog.count(of: binding.model, writer)
    changes.counts[binding.model.number] = stored
    return stored
  }

  /// Changes the number of records of a model.
  func count(_ difference: Int, in binding: ModelBinding) throws {
    if tally?.binding === binding {
      tally?.difference += difference
    } else {
      try settleTally()
      tally = Tally(binding: binding, difference: difference)
    }
  }

  private func settleTally() throws {
    guard let tally else { return }
    self.tally = nil
    let number = tally.binding.model.number
    changes.counts[number] = try settledCount(of: tally.binding) + tally.difference
    changes.changedCounts.insert(number)
  }

  private func writeCount(_ count: Int, of number: UInt16) throws {
    try Catalog.setCount(count, of: number, writer)
  }

  /// Brings the counts into the store, where reads look for them.
  func settleCounts() throws {
    try settleTally()
    guard !changes.changedCounts.isEmpty else { return }
    try attempt {
      for model in changes.changedCounts { try writeCount(changes.counts[model] ?? 0, of: model) }
    }
    changes.changedCounts.removeAll()
  }
}

extension KeyValueTransaction {
  package func catalog() throws -> [ModelSchema] {
    try requireOpen()
    return try store.catalog(writer)
  }

  package func unmappedObjects() throws -> [UnmappedObject] { [] }

  package func schema(named name: String) throws -> ModelSchema? {
    try requireOpen()
    let name = StoredName(name)
    if let model = changes.models[name] { return model.schema }
    return changes.dropped.contains(name) ? nil : try store.schema(name, writer)
  }

  package func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws
    -> Bool
  {
    try requireOpen()
    try key.validate(for: schema)
    guard let binding = try binding(schema) else { return false }
    return try RecordAccess(binding, writer, location: store.location).find(key, body)
  }

  package func count(_ request: FetchRequest) throws -> Int {
    try requireOpen()
    guard let binding = try binding(request.schema), request.limit != 0 else { return 0 }
    try settleCounts()
    let query = try PreparedQuery(request, binding, writer, location: store.location, needs: .count)
    return try query.count(writer)
  }

  package func fetch(_ request: FetchRequest) throws -> any StorageResults { try fetch(request, nil) }

  package func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    try request.schema.requirePositions(positions)
    return try fetch(request, positions)
  }

  private func fetch(_ request: FetchRequest, _ positions: [Int]?) throws -> any StorageResults {
    try requireOpen()
    guard let binding = try binding(request.schema), request.limit != 0 else { return EmptyResults() }
    try settleCounts()
    let needs = AccessNeeds(of: request, selecting: positions)
    let query = try PreparedQuery(request, binding, writer, location: store.location, needs: needs)
    return try query.results(writer, TransactionSource.View(source), selecting: positions)
  }

  package func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    try requireOpen()
    guard let binding = try binding(request.rows.schema), request.rows.limit != 0 else {
      return try AggregateFold(request).groups()
    }
    try settleCounts()
    return try AggregateReading(request, binding, writer, location: store.location).groups()
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
    try settleCounts()
    let needs = AccessNeeds(of: request, selecting: positions)
    return try PreparedQuery(request, binding, writer, location: store.location, needs: needs)
      .queryPlan(selecting: positions)
  }

  package func define(_ schema: ModelSchema) throws { try define(schema, indexing: .built) }

  func define(_ schema: ModelSchema, indexing: StoredModel.Indexing) throws {
    try requireOpen()
    guard try binding(schema) == nil else { return }
    try settleTally()
    let model = try attempt { try Catalog.add(schema, indexing: indexing, writer) }
    changes.models[StoredName(schema.name)] = model
    changes.counts[model.number] = 0
  }

  /// Enters how far the indexes of a model are.
  func enter(_ model: StoredModel, indexing: StoredModel.Indexing) throws {
    guard model.indexing != indexing else { return }
    try settleTally()
    var model = model
    model.indexing = indexing
    try attempt { try Catalog.enter(model, writer) }
    changes.models[StoredName(model.schema.name)] = model
    changes.generations += 1
    bindings.removeAll()
    lastBinding = nil
  }

  package func drop(_ schema: ModelSchema) throws {
    try requireOpen()
    guard let model = try binding(schema)?.model else { return }
    try settleTally()
    let name = StoredName(schema.name)
    try attempt {
      try KeyPrefix.model(model.number).withUnsafeBytes { prefix in
        try writer.removeAll(beginningWith: prefix, in: .indexes)
        try writer.removeAll(beginningWith: prefix, in: .records)
      }
      try Catalog.remove(model, writer)
    }
    changes.models[name] = nil
    changes.dropped.insert(name)
    changes.generations += 1
    changes.counts[model.number] = nil
    changes.changedCounts.remove(model.number)
    bindings.removeAll()
    lastBinding = nil
  }

  package func nested(_ body: () throws -> Void) throws {
    try requireOpen()
    try settleTally()
    let before = changes
    source.changed()
    var bodyError: (any Error)?
    do {
      try writer.nested {
        do {
          try body()
          try requireOpen()
        } catch {
          bodyError = error
          throw error
        }
      }
    } catch {
      source.changed()
      changes = before
      tally = nil
      bindings.removeAll()
      lastBinding = nil
      if bodyError == nil {
        failure = error
      } else {
        // What failed within the nested part is undone with it.
        failure = nil
      }
      throw error
    }
    source.changed()
  }
}
