import PersistenceDriver

/// The records of one model in key order, as a value: a copy is a snapshot.
struct Table: Sendable {
  let schema: ModelSchema
  private(set) var records: [Record] = []
  private var unique: [UniqueIndex]

  init(_ schema: ModelSchema) {
    self.schema = schema
    unique = schema.indexes.filter(\.isUnique).map { UniqueIndex($0, of: schema) }
  }

  /// Returns each stored field's position in a declared schema; stores identify fields by name (contract E4).
  func targets(for declared: ModelSchema) -> [Int] {
    schema.fields.compactMap { declared.position(of: $0.name) }
  }

  func record(for key: RecordKey) -> Record? {
    let (position, isFound) = position(of: key)
    return isFound ? records[position] : nil
  }

  /// Adds a record or replaces the one with its key; throws, and changes nothing, if a unique value is taken.
  mutating func save(_ record: Record) throws {
    let values = try uniqueValues(of: record)
    for (index, values) in zip(unique, values) {
      guard let values, let holder = index.holder(of: values), holder != record.key else { continue }
      throw PersistenceError.uniqueViolation(values, of: index.index, in: schema, key: record.key)
    }
    let (position, isFound) = position(of: record.key)
    if isFound {
      setHolder(nil, of: try uniqueValues(of: records[position]))
      records[position] = record
    } else {
      records.insert(record, at: position)
    }
    setHolder(record.key, of: values)
  }

  /// Appends a record from a file, where records are in key order.
  mutating func append(_ record: Record) throws {
    if let last = records.last, last.key >= record.key {
      throw PersistenceError.damaged("the records of \(schema.name) are not in key order")
    }
    setHolder(record.key, of: try uniqueValues(of: record))
    records.append(record)
  }

  /// Deletes the record with a key, and returns whether there was one.
  mutating func delete(_ key: RecordKey) throws -> Bool {
    let (position, isFound) = position(of: key)
    guard isFound else { return false }
    setHolder(nil, of: try uniqueValues(of: records[position]))
    records.remove(at: position)
    return true
  }

  mutating func deleteAll() {
    records.removeAll()
    for number in unique.indices { unique[number].removeAll() }
  }

  /// Returns the position of a key, or the position where it would be inserted.
  private func position(of key: RecordKey) -> (position: Int, isFound: Bool) {
    var (low, high) = (0, records.count)
    while low < high {
      let middle = (low + high) / 2
      if records[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return (low, low < records.count && records[low].key == key)
  }

  /// Returns a record's values in each unique index.
  private func uniqueValues(of record: Record) throws -> [[PersistentValue]?] {
    guard !unique.isEmpty else { return [] }
    let row = RowBuffer(count: schema.fields.count)
    return try record.withRow(row, Array(schema.fields.indices)) { row in
      var values: [[PersistentValue]?] = []
      for index in unique { values.append(try index.values(of: row)) }
      return values
    }
  }

  private mutating func setHolder(_ key: RecordKey?, of values: [[PersistentValue]?]) {
    for (number, values) in values.enumerated() {
      if let values { unique[number].setHolder(key, of: values) }
    }
  }
}
