import PersistenceDriver
import PersistencePrimitives

/// Compares the indexes of a declaration with the stored ones.
///
/// All names of fields are those that the fields have after the change.
struct IndexComparison {
  let stored: [IndexSchema]
  let declared: [IndexSchema]
  /// The fields of the indexes that rules remove.
  let removed: [[String]]
  /// The stored fields.
  let fields: [FieldSchema]
  /// Whether the store has met the declaration, which may be an older one.
  let isMet: Bool
  /// Whether the declaration says something of the model that the store does not know, or knows a field from after the
  /// last removal, as a newer one does.
  let saysNew: Bool

  /// The indexes after the change.
  ///
  /// - Parameter history: What the store remembers; gets what the declaration says of removed indexes.
  /// - Returns: The stored indexes that stay, then the new ones.
  func target(_ history: inout ModelHistory) -> [IndexSchema] {
    let before = history.removedIndexes
    var redeclared = history.redeclaredIndexes ?? []
    // An older version does not remove an index that a newer one has declared again (contract S4).
    let removed = isMet ? removed.filter { !redeclared.containsNames($0) } : removed
    for fields in removed {
      if !history.removedIndexes.containsNames(fields) { history.removedIndexes.append(fields) }
      redeclared.removeAll { $0.isNames(fields) }
    }
    // All new records have the same value in these fields.
    let zeroed = fields.filter { ModelHistory.isRemoved($0.name) && !$0.isOptional }.map(\.name)
    var indexes = stored.filter { index in
      // A unique index over a removed required field would refuse the second new record.
      if index.isUnique, index.fields.contains(where: zeroed.containsName) { return false }
      return !removed.containsNames(index.fields) || declared.contains(index)
    }
    for index in declared {
      let isKnown = indexes.contains { $0.fields.isNames(index.fields) && ($0.isUnique || !index.isUnique) }
      if isKnown { continue }
      if before.containsNames(index.fields) {
        // An older version does not add an index that a newer one has removed (contract S4).
        if isMet || !saysNew { continue }
        redeclared.append(index.fields)
        if !removed.containsNames(index.fields) {
          history.removedIndexes.removeAll { $0.isNames(index.fields) }
        }
      }
      indexes.append(index)
    }
    history.redeclaredIndexes = redeclared.isEmpty ? nil : redeclared
    return indexes
  }
}

extension String {
  /// Whether two stored names are the same, byte by byte.
  func isName(_ other: String) -> Bool { StoredName(self) == StoredName(other) }
}

extension [String] {
  /// Whether two lists have the same stored names in the same order.
  fileprivate func isNames(_ other: [String]) -> Bool { map(StoredName.init) == other.map(StoredName.init) }
}

extension [[String]] {
  /// Whether one of the lists has the same stored names in the same order as another list.
  fileprivate func containsNames(_ names: [String]) -> Bool { contains { $0.isNames(names) } }
}
