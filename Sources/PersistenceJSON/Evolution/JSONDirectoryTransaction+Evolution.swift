import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// Changes of schema. Most change only the catalog: the files of before remain readable, see ``ModelPast``.
extension JSONDirectoryTransaction {
  func evolve(_ change: SchemaChange) throws {
    try mappingErrors(location: location) {
      try nested {
        let model = try models.model(for: change, location: location)
        let outcome = try containsReplacedNil(change) ? .rewritten : ModelPast.after(change, model.past)
        let files = RecordFiles(change.stored, in: model, of: self, location: location)
        if case .kept(let past) = outcome {
          models.replace(change, past: past)
          let index = try !change.indexesToBuild.isEmpty && !files.names().isEmpty
          try adopt(change, buildingIndexes: index)
        } else {
          models.replace(change, past: nil, isRewritten: true)
          try rewrite(change, files)
        }
        try setCatalog()
        checked.removeAll()
      }
    }
  }

  /// Reads the values of unique indexes under the new schema, and checks those of new ones.
  private func adopt(_ change: SchemaChange, buildingIndexes: Bool) throws {
    guard let model = try models.model(of: change.target, location: location) else { return }
    let files = RecordFiles(change.target, in: model, of: self, location: location).withIndex
    let row = RowBuffer(count: change.target.fields.count)
    for (file, exists) in pending.names(in: model.folder) where exists {
      let name = PendingFiles.Name(folder: model.folder, file: file)
      guard var changed = pending.files[name], let text = try changed.bytes() else { continue }
      try files.naming(file) { try files.fill(row, from: text) }
      changed.unique = try row.withRow { try UniqueValues.values(of: $0, in: change.target) }
      pending.set(name, changed)
    }
    guard buildingIndexes else { return }
    let added = zip(change.target.indexes, change.indexOrigins).filter { $1 == nil }.map(\.0)
    var unique = UniqueValues.indexes(of: change.target).enumerated().compactMap { number, entry in
      added.contains(entry.index)
        ? (number: number, index: entry.index, holders: [[PersistentValue]: String]()) : nil
    }
    for (done, entry) in try files.entries().enumerated() {
      try StoreProgress.report(done)
      _ = try files.glance(entry, into: row)
      let values = try row.withRow { try UniqueValues.values(of: $0, in: change.target) }
      for position in unique.indices {
        guard let values = values[unique[position].number],
          let holder = unique[position].holders.updateValue(entry.file, forKey: values)
        else { continue }
        throw violation(
          values, of: unique[position].index, in: change.target, entry.key,
          holder: "\(model.folder)/\(holder)")
      }
    }
    files.saveIndex()
  }

  /// Writes all records of a model anew, without keeping their texts in memory.
  private func rewrite(_ change: SchemaChange, _ files: RecordFiles) throws {
    let target = change.target
    // The positions of unique indexes differ between the schemas.
    for (file, exists) in pending.names(in: files.folder) where exists {
      let name = PendingFiles.Name(folder: files.folder, file: file)
      guard var changed = pending.files[name] else { continue }
      changed.unique = []
      pending.set(name, changed)
    }
    let entries = try files.entries()
    guard !entries.isEmpty else { return }
    let spool = try Spool(store)
    let unique = UniqueValues.indexes(of: target)
    let (old, changed) = (RowBuffer(count: change.stored.fields.count), RowChange(change))
    for (done, entry) in entries.enumerated() {
      try StoreProgress.report(done)
      _ = try files.read(entry, into: old)
      try old.withRow { stored in
        try changed.withRow(from: stored) { row in
          try target.validate(row)
          let values = try UniqueValues.values(of: row, in: target)
          for (number, index) in unique.enumerated() {
            guard let values = values[number],
              let holder = pending.holder(of: values, index: number, in: files.folder), holder != entry.file
            else { continue }
            throw violation(
              values, of: index.index, in: target, entry.key, holder: "\(files.folder)/\(holder)")
          }
          let text = try spool.add(try RecordText.text(of: row, in: target))
          pending.set(
            PendingFiles.Name(folder: files.folder, file: entry.file),
            PendingFiles.Pending(spooled: text, unique: values))
        }
      }
    }
  }
}

extension JSONDirectoryReader {
  /// No index: the cache of indexed values is filled as requests read files, and each entry is validated by its file.
  public func unbuiltIndexes(of schema: ModelSchema) throws -> [IndexSchema] { [] }

  /// The cost of a change: only computed, erased or replaced values, and reused names, rewrite files.
  public func cost(of change: SchemaChange) throws -> EvolutionCost {
    try mappingErrors(location: location) {
      let (source, catalog) = try reading()
      let model = try catalog.model(for: change, location: location)
      let outcome = try containsReplacedNil(change) ? .rewritten : ModelPast.after(change, model.past)
      let cost: EvolutionCost
      if case .kept = outcome {
        guard !change.indexesToBuild.isEmpty else { return .catalog }
        cost = .indexes
      } else {
        cost = .rewrite
      }
      let files = RecordFiles(change.stored, in: model, of: source, location: location)
      return try files.names().isEmpty ? .catalog : cost
    }
  }
}
