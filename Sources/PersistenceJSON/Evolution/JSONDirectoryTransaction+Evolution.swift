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
}
