import PersistenceDriver

/// The unique values of all models of a context, kept from one transaction to the next and used by one at a time.
final class UniqueCache {
  private var models: [StoredName: UniqueValues] = [:]

  /// Brings a model's values up to date with its files.
  func refresh(_ model: StoredName, _ schema: ModelSchema, _ files: RecordFiles) throws {
    // Taken out, so that it is changed in place and forgotten where a file cannot be read.
    var values = models.removeValue(forKey: model) ?? UniqueValues(schema)
    if !values.fits(schema) { values = UniqueValues(schema) }
    try values.refresh(files)
    models[model] = values
  }

  /// The files that hold values of an index.
  func holders(_ model: StoredName, of values: [PersistentValue], index: Int) -> Set<String> {
    models[model]?.holders(of: values, index: index) ?? []
  }
}
