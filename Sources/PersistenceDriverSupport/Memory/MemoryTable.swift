import PersistenceDriver

/// The records of one model, sorted by primary key, as a value: a copy is a snapshot.
///
/// The records are in chunks, so that a write during a live snapshot copies one chunk and the list of chunks, not
/// the table.
struct MemoryTable: Sendable {
  /// One record: its key and its values by position.
  struct Record: Sendable {
    let key: RecordKey
    let values: [PersistentValue]
  }

  private static let chunkLimit = 512

  let schema: ModelSchema
  private(set) var chunks: [[Record]] = []
  private(set) var count = 0
  /// For each unique index, the keys of the records by their indexed values; records with a nil value have no entry.
  private var unique: [[[PersistentValue]: RecordKey]]
  private let uniqueIndexes: [(index: IndexSchema, positions: [Int])]

  init(schema: ModelSchema) {
    self.schema = schema
    uniqueIndexes = schema.indexes.filter(\.isUnique).map { index in
      (index, index.fields.compactMap { schema.position(of: $0) })
    }
    unique = Array(repeating: [:], count: uniqueIndexes.count)
  }

  /// The record with a key; nil if there is none.
  ///
  /// - Complexity: Logarithmic.
  func record(for key: RecordKey) -> Record? {
    let place = place(of: key)
    return place.isFound ? chunks[place.chunk][place.offset] : nil
  }

  /// Inserts a record, or replaces the one with the same key, after it has checked the unique indexes.
  mutating func save(_ record: Record) throws {
    let place = place(of: record.key)
    let old = place.isFound ? chunks[place.chunk][place.offset] : nil
    try checkUnique(record)
    if let old { removeFromUnique(old) }
    addToUnique(record)
    if place.isFound {
      chunks[place.chunk][place.offset] = record
      return
    }
    count += 1
    guard !chunks.isEmpty else {
      chunks = [[record]]
      return
    }
    chunks[place.chunk].insert(record, at: place.offset)
    if chunks[place.chunk].count > Self.chunkLimit { split(place.chunk) }
  }

  /// Removes the record with a key, and returns whether there was one.
  mutating func remove(_ key: RecordKey) -> Bool {
    let place = place(of: key)
    guard place.isFound else { return false }
    removeFromUnique(chunks[place.chunk][place.offset])
    chunks[place.chunk].remove(at: place.offset)
    if chunks[place.chunk].isEmpty { chunks.remove(at: place.chunk) }
    count -= 1
    return true
  }

  mutating func removeAll() {
    chunks.removeAll()
    count = 0
    unique = Array(repeating: [:], count: uniqueIndexes.count)
  }

  /// The table after a change of schema; it shares the records if only names change.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/uniqueViolation`` if records collide in an index.
  func evolved(by change: SchemaChange) throws -> MemoryTable {
    var table = MemoryTable(schema: change.target)
    table.count = count
    let positions = MemoryRows.positions(of: change.stored, in: schema)
    let isShared = positions == nil && change.sources == change.stored.fields.indices.map { .field($0) }
    if isShared {
      table.chunks = chunks
    } else {
      let (row, changed) = (RowBuffer(count: change.stored.fields.count), RowChange(change))
      var done = 0
      for chunk in chunks {
        table.chunks.append(
          try chunk.map { record in
            try StoreProgress.report(done)
            done += 1
            MemoryRows.fill(row, with: record, positions: positions)
            return Record(
              key: record.key,
              values: try row.withRow { try changed.withRow(from: $0) { try $0.values() } })
          })
      }
    }
    if isShared, table.uniqueIndexes.map(\.positions) == uniqueIndexes.map(\.positions) {
      table.unique = unique
      return table
    }
    for (done, record) in table.chunks.joined().enumerated() {
      try StoreProgress.report(done)
      try table.checkUnique(record)
      table.addToUnique(record)
    }
    return table
  }

  private mutating func split(_ chunk: Int) {
    let half = chunks[chunk].count / 2
    let upper = Array(chunks[chunk][half...])
    chunks[chunk].removeSubrange(half...)
    chunks.insert(upper, at: chunk + 1)
  }

  private struct Place {
    var chunk: Int
    var offset: Int
    var isFound: Bool
  }

  /// The position of a key, or the position at which to insert it.
  private func place(of key: RecordKey) -> Place {
    // The chunk is the last one whose first key is not greater.
    var (low, high) = (0, chunks.count)
    while low < high {
      let middle = (low + high) / 2
      if chunks[middle][0].key <= key { low = middle + 1 } else { high = middle }
    }
    let chunk = max(0, low - 1)
    guard chunk < chunks.count else { return Place(chunk: 0, offset: 0, isFound: false) }
    let records = chunks[chunk]
    (low, high) = (0, records.count)
    while low < high {
      let middle = (low + high) / 2
      if records[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return Place(chunk: chunk, offset: low, isFound: low < records.count && records[low].key == key)
  }

  private func uniqueValues(_ record: Record, _ positions: [Int]) -> [PersistentValue]? {
    var values: [PersistentValue] = []
    for position in positions {
      guard !record.values[position].isNull else { return nil }
      values.append(record.values[position])
    }
    return values
  }

  private func checkUnique(_ record: Record) throws {
    for (number, (index, positions)) in uniqueIndexes.enumerated() {
      guard let values = uniqueValues(record, positions), let holder = unique[number][values],
        holder != record.key
      else { continue }
      throw PersistenceError.uniqueViolation(values, of: index, in: schema, key: record.key)
    }
  }

  private mutating func addToUnique(_ record: Record) {
    for (number, (_, positions)) in uniqueIndexes.enumerated() {
      if let values = uniqueValues(record, positions) { unique[number][values] = record.key }
    }
  }

  private mutating func removeFromUnique(_ record: Record) {
    for (number, (_, positions)) in uniqueIndexes.enumerated() {
      if let values = uniqueValues(record, positions) { unique[number][values] = nil }
    }
  }
}
