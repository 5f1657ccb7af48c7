import PersistenceCore
import PersistenceDriver

extension PersistentRepository {
  /// Applies one change in this repository's transaction.
  func apply<Object: PersistentRecord>(_ change: ObjectChange<Object>) throws {
    switch change {
    case .insert(let object): try insert(object)
    case .update(let object, nil): try update(object)
    case .update(let object, let expected?): try update(object, replacing: expected)
    case .save(let object): try save(object)
    case .delete(let object): try delete(object)
    }
  }

  /// Replaces an object if the stored one equals the expected one, in this repository's transaction.
  func update<Object: PersistentRecord>(_ object: Object, replacing expected: Object) throws {
    let schema = try Object.schema.model
    try object.requireSameKey(as: expected)
    guard let stored = try find(Object.self, id: object.primaryKey) else {
      throw PersistenceError.notFound(object.recordKey, in: schema)
    }
    try stored.requireSameFields(as: expected)
    try update(object)
  }
}

extension PersistentRecord {
  /// Throws if a replacement has another key.
  package func requireSameKey(as expected: Self) throws {
    guard recordKey != expected.recordKey else { return }
    throw PersistenceError.invalidRequest(
      "an update cannot change the primary key of a \(try Self.schema.model.name); delete the record and insert a new one"
    )
  }

  /// Throws if the stored record differs from the expected one.
  func requireSameFields(as expected: Self) throws {
    guard try !hasSameFields(as: expected) else { return }
    let name = try Self.schema.model.name
    throw PersistenceError(
      .conflict, "the stored \(name) differs from the expected one; read it and apply the change again",
      model: name, key: recordKey)
  }

  /// Whether another record has the same values in all stored fields.
  func hasSameFields(as other: Self) throws -> Bool {
    let count = try Self.schema.model.fields.count
    let (mine, theirs) = (RowBuffer(count: count), RowBuffer(count: count))
    try encode(into: mine)
    try other.encode(into: theirs)
    return try mine.withRow { mine in
      try theirs.withRow { try mine.values() == $0.values() }
    }
  }
}
