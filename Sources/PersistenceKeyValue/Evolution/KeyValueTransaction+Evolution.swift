package import PersistenceDriver
import PersistenceDriverSupport

extension KeyValueStore {
  /// The cost of a change of schema.
  package func cost(of change: SchemaChange, _ reader: any ByteReader) throws -> EvolutionCost {
    guard let model = try binding(change.stored, reader)?.model else { return .catalog }
    return try EvolutionPlan(change, of: model, isEmpty: try Catalog.count(of: model, reader) == 0).cost
  }

  /// The indexes of a model that no request may read yet.
  package func unbuiltIndexes(of schema: ModelSchema, _ reader: any ByteReader) throws -> [IndexSchema] {
    try binding(schema, reader)?.model.unbuiltIndexes ?? []
  }
}

extension KeyValueTransaction: PreparingTransaction {
  package func cost(of change: SchemaChange) throws -> EvolutionCost {
    try requireOpen()
    guard let binding = try binding(change.stored) else { return .catalog }
    return try EvolutionPlan(change, of: binding.model, isEmpty: try count(of: binding) == 0).cost
  }

  package func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] {
    try requireOpen()
    return try binding(schema)?.model.unbuiltIndexes ?? []
  }

  package func prepare(_ change: SchemaChange) throws -> Bool {
    try requireOpen()
    guard source.generation == preparedWrites, let old = try binding(change.stored),
      old.model.indexing == .built
    else { return false }
    let plan = try EvolutionPlan(change, of: old.model, isEmpty: try count(of: old) == 0)
    guard plan.isRewriting else { return false }
    changes.copies[StoredName(change.stored.name)] = try attempt {
      try copyRecords(
        change, plan, from: old,
        checkpointLimit: min(store.indexBuilding.memory, RecordsCopy.checkpointLimit))
    }
    preparedWrites = source.generation
    return true
  }

  package func evolve(_ change: SchemaChange) throws {
    try requireOpen()
    try nested { try apply(change) }
  }

  private func apply(_ change: SchemaChange) throws {
    let prepared = changes.copies[StoredName(change.stored.name)].flatMap { $0.serves(change) ? $0 : nil }
    guard let old = try changingBinding(change.stored) else {
      throw PersistenceError.schemaMismatch(
        model: change.stored.name, location: store.location,
        differences: ["the store does not contain the model"])
    }
    let (oldName, newName) = (StoredName(change.stored.name), StoredName(change.target.name))
    if oldName != newName, try schema(named: change.target.name) != nil {
      throw PersistenceError.schemaMismatch(
        model: change.target.name, location: store.location,
        differences: ["\(change.target.name): already in the store"])
    }
    let plan = try EvolutionPlan(change, of: old.model, isEmpty: try count(of: old) == 0)
    var model = plan.model
    for prefix in plan.removedIndexes {
      try prefix.withUnsafeBytes { try writer.removeAll(beginningWith: $0, in: .indexes) }
    }
    if plan.isRewriting {
      let copy = try prepared ?? copyRecords(change, plan, from: old, checkpointLimit: nil)
      model = plan.model(recordsNumber: copy.number)
      try old.prefix.withUnsafeBytes { try writer.removeAll(beginningWith: $0, in: .records) }
      try Catalog.finishCopy(copy.number, writer)
    }
    try Catalog.write(model, writer)
    try Catalog.setEvolved(writer)
    if plan.restartsBuild { try BuildBookmark.remove(model, writer) }
    if !plan.addedIndexes.isEmpty {
      let new = ModelBinding(model, declared: change.target)
      let added = plan.addedIndexes.map { new.storedIndexes[$0] }
      let build = try IndexBuild(new, only: added, writer, store.indexBuilding, location: store.location)
      try build.writeAll(to: writer)
    }
    if oldName != newName {
      changes.models[oldName] = nil
      changes.dropped.insert(oldName)
    }
    changes.models[newName] = model
    changes.generations += 1
    forgetBindings()
  }

  /// Copies all records of a model in the form after a change.
  private func copyRecords(
    _ change: SchemaChange, _ plan: EvolutionPlan, from old: ModelBinding, checkpointLimit: Int?
  ) throws -> RecordsCopy {
    let commitsEarly = checkpointLimit != nil
    // Others are of processes that ended.
    let hasRemoved = try changes.copies.isEmpty && Catalog.removeUnfinishedCopies(writer)
    // LMDB reuses a page only in the second transaction after the one that freed it. Otherwise what an earlier attempt
    // left would fill the store in each attempt, before the first early commit.
    if hasRemoved, commitsEarly { try RecordsCopy.checkpoint(writer) }
    let copy = RecordsCopy(change: change, number: try Catalog.beginCopy(of: change.target, writer))
    if commitsEarly { try RecordsCopy.checkpoint(writer) }
    let new = ModelBinding(plan.model(recordsNumber: copy.number), declared: change.target)
    try copy.write(from: old, to: new, writer, location: store.location, checkpointLimit: checkpointLimit)
    return copy
  }
}
