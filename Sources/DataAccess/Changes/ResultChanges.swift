import PersistenceCore

/// The last result of a query, with which the next one is compared.
struct ResultChanges<Object: PersistentRecord> {
  private(set) var objects: [Object]?

  /// Replaces the result, and returns what has changed; nil for nothing.
  mutating func replace(with new: [Object]) throws -> ChangeSet? {
    defer { objects = new }
    guard let old = objects else { return .first }
    var keys = ChangedKeys()
    var known = Dictionary(old.map { ($0.recordKey, $0) }) { $1 }
    for object in new {
      guard let before = known.removeValue(forKey: object.recordKey) else {
        keys.inserted.insert(object.recordKey)
        continue
      }
      if try !before.hasSameFields(as: object) { keys.updated.insert(object.recordKey) }
    }
    keys.deleted.formUnion(known.keys)
    return keys.count == 0 ? nil : .keys(keys)
  }
}
