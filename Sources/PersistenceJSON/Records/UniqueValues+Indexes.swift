import PersistenceDriver

extension UniqueValues {
  /// The distinct unique indexes of a schema, with the positions of their fields.
  ///
  /// Every declaration of the model has the same order, so that an index has the same number in all of them.
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
}
