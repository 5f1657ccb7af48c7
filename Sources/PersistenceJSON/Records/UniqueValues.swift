import PersistenceDriver

/// The values of a model's unique indexes, by file.
///
/// They are refreshed from the model's index before each use, so that they include edits by hand.
///
/// - Complexity: A refresh checks the status of every file of the model, and reads the changed ones.
struct UniqueValues {
  private struct Known {
    /// The index entry of the values; nil if there is none, so that the next refresh reads the file again.
    var record: IndexedRecord?
    var values: [[PersistentValue]?]
  }

  private let schema: ModelSchema
  private var known: [String: Known] = [:]
  private var holders: [[[PersistentValue]: Set<String>]]

  init(_ schema: ModelSchema) {
    self.schema = schema
    holders = Array(repeating: [:], count: Self.indexes(of: schema).count)
  }

  /// Refreshes the values from the files; a damaged file has none.
  mutating func refresh(_ files: RecordFiles) throws {
    let row = RowBuffer(count: schema.fields.count)
    var current: Set<String> = []
    for name in try files.names() {
      current.insert(name)
      let record = try files.naming(name) { try files.known(name) }
      if let record, known[name]?.record === record { continue }
      forget(name)
      do {
        let glance = try files.naming(name) { try files.glance(name, into: row) }
        let values = try row.withRow { try Self.values(of: $0, in: schema) }
        remember(name, Known(record: glance.record, values: values))
      } catch let error as PersistenceError where error.code == .damaged {
        // One damaged file must not prevent writes of other records. Reading it reports the damage.
      }
    }
    for name in known.keys where !current.contains(name) { forget(name) }
    files.saveIndex()
  }

  /// Whether the values belong to this declaration of the model, since another may order the fields
  /// differently.
  func matches(_ schema: ModelSchema) -> Bool { self.schema == schema }

  /// The files with these values of an index.
  func holders(of values: [PersistentValue], index: Int) -> Set<String> { holders[index][values] ?? [] }

  private mutating func remember(_ file: String, _ entry: Known) {
    known[file] = entry
    for (index, values) in entry.values.enumerated() {
      if let values { holders[index][values, default: []].insert(file) }
    }
  }

  private mutating func forget(_ file: String) {
    guard let entry = known.removeValue(forKey: file) else { return }
    for (index, values) in entry.values.enumerated() {
      guard let values else { continue }
      holders[index][values]?.remove(file)
      if holders[index][values]?.isEmpty == true { holders[index][values] = nil }
    }
  }
}
