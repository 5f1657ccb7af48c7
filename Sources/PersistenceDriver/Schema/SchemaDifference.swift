import PersistencePrimitives

extension ModelSchema {
  /// What tells a declared schema from the one that a store was written with, line by line.
  ///
  /// The order of fields and of indexes does not count: stores know fields by name.
  ///
  /// - Parameter stored: The schema in the store's catalog.
  /// - Returns: One line for each difference, such as `budget: stored as int64, declared as double?`; empty
  ///   where the declared schema can be used with the store.
  public func differences(from stored: ModelSchema) -> [String] {
    var lines: [String] = []
    for field in fields {
      guard let other = stored.field(named: field.name) else {
        lines.append("\(field.name): declared as \(field.shape), not in the store")
        continue
      }
      if other != field {
        lines.append("\(field.name): stored as \(other.shape), declared as \(field.shape)")
      }
    }
    for field in stored.fields where position(of: field.name) == nil {
      lines.append("\(field.name): stored as \(field.shape), not declared")
    }
    if key.map(StoredName.init) != stored.key.map(StoredName.init) {
      lines.append(
        "primary key: stored as (\(stored.key.joined(separator: ", "))), "
          + "declared as (\(key.joined(separator: ", ")))")
    }
    let declaredIndexes = Set(indexes)
    let storedIndexes = Set(stored.indexes)
    for index in indexes where !storedIndexes.contains(index) {
      lines.append("index \(index): declared, not in the store")
    }
    for index in stored.indexes where !declaredIndexes.contains(index) {
      lines.append("index \(index): in the store, not declared")
    }
    return lines
  }

  /// Makes sure that the declared schema fits the stored one (contract E4).
  ///
  /// - Parameters:
  ///   - stored: The schema in the store's catalog.
  ///   - location: The store, for the message.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/schemaMismatch`` and the differences.
  public func requireCompatible(with stored: ModelSchema, location: String) throws {
    guard identity != stored.identity, self != stored else { return }
    let lines = differences(from: stored)
    guard lines.isEmpty else {
      throw PersistenceError.schemaMismatch(model: name, location: location, differences: lines)
    }
  }
}

extension FieldSchema {
  var shape: String { kind.rawValue + (isOptional ? "?" : "") }
}
