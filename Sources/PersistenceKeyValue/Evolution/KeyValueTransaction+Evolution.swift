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

extension KeyValueTransaction {
  package func cost(of change: SchemaChange) throws -> EvolutionCost {
    try requireOpen()
    guard let binding = try binding(change.stored) else { return .catalog }
    return try EvolutionPlan(change, of: binding.model, isEmpty: try count(of: binding) == 0).cost
  }

  package func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] {
    try requireOpen()
    return try binding(schema)?.model.unbuiltIndexes ?? []
  }

  package func evolve(_ change: SchemaChange) throws {
    try requireOpen()
    try nested { try apply(change) }
  }

  private func apply(_ change: SchemaChange) throws {
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
    let new = ModelBinding(plan.model, declared: change.target)
    for prefix in plan.removedIndexes {
      try prefix.withUnsafeBytes { try writer.removeAll(beginningWith: $0, in: .indexes) }
    }
    if plan.isRewriting { try rewrite(change, from: old, to: new) }
    try Catalog.write(plan.model, writer)
    try Catalog.setEvolved(writer)
    if plan.restartsBuild { try BuildBookmark.remove(plan.model, writer) }
    if !plan.addedIndexes.isEmpty {
      let added = plan.addedIndexes.map { new.storedIndexes[$0] }
      let build = try IndexBuild(new, only: added, writer, store.indexBuilding, location: store.location)
      try build.writeAll(to: writer)
    }
    if oldName != newName {
      changes.models[oldName] = nil
      changes.dropped.insert(oldName)
    }
    changes.models[newName] = plan.model
    changes.generations += 1
    forgetBindings()
  }

  /// Writes all records of a model anew.
  private func rewrite(_ change: SchemaChange, from old: ModelBinding, to new: ModelBinding) throws {
    let (row, changed) = (RowBuffer(count: old.layout.count), RowChange(change))
    let access = RecordAccess(old, writer, location: store.location)
    var done = 0
    try old.prefix.withUnsafeBytes { prefix in
      try writer.replaceValues(beginningWith: prefix, in: .records) { record, value in
        if done.isMultiple(of: 16) { try StoreProgress.report(done) }
        done += 1
        try access.borrow(record, row) { stored in
          try changed.withRow(from: stored) { row in
            new.layout.pack(row, into: value.extend(by: try new.layout.packedLength(of: row)))
          }
        }
      }
    }
  }
}
