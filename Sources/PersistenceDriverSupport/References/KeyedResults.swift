package import PersistenceDriver
import PersistencePrimitives

/// Results that consist of the records with known keys, in the order of the keys.
package final class KeyedResults: StorageResults, @unchecked Sendable {  // reads a snapshot, or at once
  package let usesRandomAccess = false
  private let keys: [RecordKey]
  private let schema: ModelSchema
  private let selection: [Int]?
  private let reader: any StorageReader

  package init(
    _ keys: [RecordKey], of schema: ModelSchema, selecting selection: [Int]?, _ reader: any StorageReader
  ) {
    self.keys = keys
    self.schema = schema
    self.selection = selection
    self.reader = reader
  }

  package func count() throws -> Int { keys.count }

  package func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
    guard limit > 0, 0..<keys.count ~= offset else { return 0 }
    let wanted = keys[offset..<min(keys.count, offset + min(limit, keys.count - offset))]
    for part in Array(wanted).chunks(of: KeepingTransaction.chunk) { try read(part, body) }
    return wanted.count
  }

  private func read(_ keys: [RecordKey], _ body: (borrowing Row) throws -> Void) throws {
    let selected = selection ?? Array(schema.fields.indices)
    guard schema.key.count == 1 else {
      let row = RowBuffer(count: selected.count)
      for key in keys {
        let isFound = try reader.find(key, in: schema) { record in
          for (place, position) in selected.enumerated() { row.setCopy(of: record[position], at: place) }
        }
        guard isFound else { throw missing(key) }
        try row.withRow { try body($0) }
      }
      return
    }
    // The rows come in the order of their keys, and wait for their turn.
    var rows = RowArena(width: selected.count, chunkSize: 1 << 16)
    var places: [PersistentValue: Int] = [:]
    let request = try FetchRequest(schema, where: .isIn(field: schema.key[0], keys.map { $0.values[0] }))
    let found = try reader.fetch(request, selecting: selected + schema.keyPositions)
    _ = try found.read(from: 0, limit: Int.max) { row in
      places[try row.value(at: selected.count)] = rows.count
      rows.append(row, byteCount: RowArena.byteCount(of: row))
    }
    for key in keys {
      guard let place = places[key.values[0]] else { throw missing(key) }
      try rows.withRow(place, width: selected.count) { try body($0) }
    }
  }

  private func missing(_ key: RecordKey) -> PersistenceError {
    .damaged("a record of a sorted result is missing").at(model: schema.name, key: key)
  }
}
