package import PersistenceDriver
import PersistenceDriverSupport

extension KeyValueTransaction {
  package func define(_ schema: ModelSchema) throws { try define(schema, indexing: .built) }

  func define(_ schema: ModelSchema, indexing: StoredModel.Indexing) throws {
    try requireOpen()
    guard try binding(schema) == nil else { return }
    try flushTally()
    let model = try attempt { try Catalog.add(schema, indexing: indexing, writer) }
    changes.models[StoredName(schema.name)] = model
    changes.counts.read(0, of: model.number)
    // Caches remember which reserved models a generation lacks.
    if ReservedModel.isReserved(schema.name) { changes.generations += 1 }
  }

  /// Records the progress of a model's index build in the catalog.
  func setIndexing(of model: StoredModel, indexing: StoredModel.Indexing) throws {
    guard model.indexing != indexing else { return }
    try flushTally()
    var model = model
    model.indexing = indexing
    try attempt { try Catalog.write(model, writer) }
    changes.models[StoredName(model.schema.name)] = model
    changes.generations += 1
    forgetBindings()
  }

  package func drop(_ schema: ModelSchema) throws {
    try requireOpen()
    guard let model = try binding(schema)?.model else { return }
    try flushTally()
    let name = StoredName(schema.name)
    try attempt {
      try removeContent(of: model)
      try Catalog.remove(model, writer)
    }
    changes.models[name] = nil
    changes.dropped.insert(name)
    changes.generations += 1
    changes.counts.forget(model.number)
    forgetBindings()
  }

  /// Removes all records and index entries of a model.
  func removeContent(of model: StoredModel) throws {
    try KeyPrefix.model(model.number).withUnsafeBytes {
      try writer.removeAll(beginningWith: $0, in: .indexes)
    }
    try model.recordsPrefix.withUnsafeBytes { try writer.removeAll(beginningWith: $0, in: .records) }
  }

  package func defineDeferringIndexes(_ schema: ModelSchema) throws {
    try define(schema, indexing: schema.indexes.isEmpty ? .built : .awaited)
  }

  package func buildIndexes(of schema: ModelSchema) throws -> Bool {
    try requireOpen()
    guard let binding = try binding(schema) else { return true }
    guard binding.model.indexing != .built else { return try addWaitingEntries(binding) }
    let build =
      try store.takeBuild(of: binding.model)
      ?? IndexBuild(binding, writer, store.indexBuilding, location: store.location)
    let isFinished = try attempt { try build.write(to: writer, prefix: binding.indexesPrefix) }
    try setIndexing(of: binding.model, indexing: isFinished ? .built : .begun(build.token))
    if !isFinished { store.keep(build) }
    return isFinished
  }

  /// The binding of a model whose records are about to change; discards a partial index build, which the
  /// change makes stale.
  func changingBinding(_ schema: ModelSchema) throws -> ModelBinding? {
    // A copy from before a write is obsolete; the commit removes it.
    if preparedWrites > 0 { changes.copies[StoredName(schema.name)] = nil }
    guard let binding = try binding(schema) else { return nil }
    guard case .begun = binding.model.indexing else { return binding }
    try attempt {
      try binding.indexesPrefix.withUnsafeBytes { try writer.removeAll(beginningWith: $0, in: .indexes) }
    }
    try setIndexing(of: binding.model, indexing: .awaited)
    return try self.binding(schema)
  }
}
