import PersistenceDriver
import PersistencePrimitives

extension MemoryReader {
  /// The cost of a change: memory maps rows fast enough that only computed, erased and replaced values count as
  /// rewritten.
  public func cost(of change: SchemaChange) throws -> EvolutionCost {
    let table = try readableState().table(for: change, location: location)
    guard table.count > 0 else { return .catalog }
    if try change.sources.contains(.computed) || change.erases || containsReplacedNil(change) {
      return .rewrite
    }
    return change.indexesToBuild.isEmpty ? .catalog : .indexes
  }

  /// No index: memory keeps only unique values, which each change of schema checks.
  public func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] { [] }
}

extension MemoryTransaction {
  func evolve(_ change: SchemaChange) throws {
    let table = try readableState().table(for: change, location: location)
    let evolved = try table.evolved(by: change)
    state.tables[StoredName(change.stored.name)] = nil
    state.tables[StoredName(change.target.name)] = evolved
  }
}

extension MemoryState {
  /// The table that a change starts from.
  fileprivate func table(for change: SchemaChange, location: String) throws -> MemoryTable {
    let (old, new) = (change.stored.name, change.target.name)
    guard let table = try table(change.stored, location: location) else {
      throw PersistenceError.schemaMismatch(
        model: old, location: location, differences: ["\(old): not in the store"])
    }
    guard StoredName(old) == StoredName(new) || tables[StoredName(new)] == nil else {
      throw PersistenceError.schemaMismatch(
        model: new, location: location, differences: ["\(new): already in the store"])
    }
    return table
  }
}

extension SchemaChange {
  /// Whether no field of the target has the values of a stored field.
  package var erases: Bool {
    let used = sources.map { source -> Int? in
      if case .field(let position, _) = source { position } else { nil }
    }
    return !Set(used).isSuperset(of: stored.fields.indices.map { $0 })
  }
}

extension StorageReader {
  /// Whether a record is nil in a field whose nils a change replaces.
  package func containsReplacedNil(_ change: SchemaChange) throws -> Bool {
    let conditions = change.sources.compactMap { source -> PredicateNode? in
      guard case .field(let position, .some) = source, change.stored.fields[position].isOptional else {
        return nil
      }
      return .comparison(field: change.stored.fields[position].name, .equal, .null)
    }
    guard !conditions.isEmpty else { return false }
    return try count(FetchRequest(change.stored, where: .any(conditions), limit: 1)) > 0
  }
}
