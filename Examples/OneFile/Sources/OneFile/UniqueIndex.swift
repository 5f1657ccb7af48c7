import PersistenceDriver

/// Maps the values of a unique index to the record that has them; a copy is a snapshot (contract W4).
struct UniqueIndex: Sendable {
  let index: IndexSchema
  private let positions: [Int]
  private var holders: [[PersistentValue]: RecordKey] = [:]

  init(_ index: IndexSchema, of schema: ModelSchema) {
    self.index = index
    positions = index.fields.compactMap { schema.position(of: $0) }
  }

  /// Returns the indexed values of a stored row; nil if one of them is nil, because nil never conflicts.
  func values(of row: borrowing Row) throws -> [PersistentValue]? {
    var values: [PersistentValue] = []
    for position in positions {
      guard !row[position].isNull else { return nil }
      values.append(try row.value(at: position))
    }
    return values
  }

  func holder(of values: [PersistentValue]) -> RecordKey? { holders[values] }

  mutating func setHolder(_ key: RecordKey?, of values: [PersistentValue]) { holders[values] = key }

  mutating func removeAll() { holders.removeAll() }
}
