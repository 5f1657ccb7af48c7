import PersistenceDriver

/// The values of a model's unique indexes, by the file that holds them, brought up to date from the model's index
/// before they are believed, so that edits by hand are seen.
///
/// - Complexity: Bringing up to date looks at the status of every file of the model, and reads those that changed.
struct UniqueValues {
  private struct Known {
    /// What the values were taken from; nil where the index keeps nothing of the file, so that it is read again.
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

  /// The unique indexes of a schema, with the positions of their fields: each once, in an order that is the same
  /// for every declaration of the model, so that their numbers mean the same to writes under several.
  static func indexes(of schema: ModelSchema) -> [(index: IndexSchema, positions: [Int])] {
    let unique = schema.indexes.filter(\.isUnique)
    let different =
      unique.count < 2
      ? unique
      : Array(Set(unique)).sorted { left, right in
        left.fields.lexicographicallyPrecedes(right.fields) { StoredName($0) < StoredName($1) }
      }
    return different.map { index in (index, index.fields.compactMap { schema.position(of: $0) }) }
  }

  /// The indexed values of a row; nil for an index in which one of them is nil (contract W4).
  static func values(of row: borrowing Row, in schema: ModelSchema) throws -> [[PersistentValue]?] {
    var all: [[PersistentValue]?] = []
    for (_, positions) in indexes(of: schema) {
      var values: [PersistentValue] = []
      for position in positions where !row[position].isNull { values.append(try row.value(at: position)) }
      all.append(values.count == positions.count ? values : nil)
    }
    return all
  }

  /// Brings the values up to date with the files.
  mutating func refresh(_ files: RecordFiles) throws {
    let row = RowBuffer(count: schema.fields.count)
    var current: Set<String> = []
    for name in try files.names() {
      current.insert(name)
      let record = try files.naming(name) { try files.known(name) }
      if let record, known[name]?.record === record { continue }
      forget(name)
      let glance = try files.naming(name) { try files.glance(name, into: row) }
      let values = try row.withRow { try Self.values(of: $0, in: schema) }
      remember(name, Known(record: glance.record, values: values))
    }
    for name in known.keys where !current.contains(name) { forget(name) }
    files.saveIndex()
  }

  /// Whether the cache was made with this declaration of the model, whose fields may stand in another order.
  func fits(_ schema: ModelSchema) -> Bool { self.schema == schema }

  /// The files that hold values of an index.
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
