import PersistenceCore

extension ObjectChange {
  /// Whether the change depends on the stored object.
  var isConditional: Bool {
    switch self {
    case .insert, .update: true
    case .save, .delete: false
    }
  }

  /// The change without its condition.
  var unconditional: ObjectChange {
    switch self {
    case .insert(let object), .update(let object, _), .save(let object): .save(object)
    case .delete: self
    }
  }

  /// Whether the change conflicts with the stored object or its absence.
  func conflicts(with stored: Object?) throws -> Bool {
    switch self {
    case .insert: stored != nil
    case .update(_, nil): stored == nil
    case .update(_, let expected?): try stored.map { try !$0.hasSameFields(as: expected) } ?? true
    case .save, .delete: false
    }
  }
}
