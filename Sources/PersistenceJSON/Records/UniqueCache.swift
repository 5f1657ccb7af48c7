import PersistenceDriver

/// The unique values of all models of a context, shared by its transactions, one at a time.
final class UniqueCache {
  private var models: [StoredName: UniqueValues] = [:]

  /// Refreshes a model's values from its files.
  func refresh(_ model: StoredName, _ schema: ModelSchema, _ files: RecordFiles) throws {
    // Removed first, so that it is mutated in place, and discarded if a file cannot be read.
    var values = models.removeValue(forKey: model) ?? UniqueValues(schema)
    if !values.matches(schema) { values = UniqueValues(schema) }
    try values.refresh(files)
    models[model] = values
  }

  /// The files with these values of an index.
  func holders(_ model: StoredName, of values: [PersistentValue], index: Int) -> Set<String> {
    models[model]?.holders(of: values, index: index) ?? []
  }
}
