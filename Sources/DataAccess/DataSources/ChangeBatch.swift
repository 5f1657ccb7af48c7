public import Foundation
public import PersistenceCore

/// One change of one object.
public enum ObjectChange<Object: PersistentRecord>: Sendable {
  /// Adds an object, whose key must not exist.
  case insert(Object)
  /// Replaces the object of the same key, which must exist and, where it is given, be as expected.
  case update(Object, replacing: Object?)
  /// Adds an object, or replaces the one of the same key.
  case save(Object)
  /// Deletes the object of the same key, where there is one.
  case delete(Object)

  /// The object that the change is about, in its new state or, for a deletion, in its last known one.
  public var object: Object {
    switch self {
    case .insert(let object), .update(let object, _), .save(let object), .delete(let object): object
    }
  }
}

/// Changes that are made together or not at all, and once however often they are sent.
public struct ChangeBatch<Object: PersistentRecord>: Sendable {
  /// What the batch is known by.
  public var id: UUID

  /// The changes, in their order.
  public var changes: [ObjectChange<Object>]

  /// Makes a batch.
  public init(_ changes: [ObjectChange<Object>], id: UUID = UUID()) {
    self.id = id
    self.changes = changes
  }
}
