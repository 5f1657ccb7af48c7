public import Foundation
public import PersistenceCore

/// One change of one object.
public enum ObjectChange<Object: PersistentRecord>: Sendable {
  /// Inserts an object. The key must not exist.
  case insert(Object)
  /// Replaces the object of the same key. It must exist and, if given, equal the expected object.
  case update(Object, replacing: Object?)
  /// Inserts an object, or replaces the one of the same key.
  case save(Object)
  /// Deletes the object of the same key, if it exists.
  case delete(Object)

  /// The object that the change writes; for a deletion, its last known state.
  public var object: Object {
    switch self {
    case .insert(let object), .update(let object, _), .save(let object), .delete(let object): object
    }
  }
}

/// Changes that apply together or not at all.
///
/// A batch is idempotent: sending it again has no effect.
public struct ChangeBatch<Object: PersistentRecord>: Sendable {
  /// The idempotency key of the batch.
  public var id: UUID

  /// The changes, in order.
  public var changes: [ObjectChange<Object>]

  /// Makes a batch.
  public init(_ changes: [ObjectChange<Object>], id: UUID = UUID()) {
    self.id = id
    self.changes = changes
  }

  /// A digest of the changes, which tells batches with the same id apart.
  func digest() throws -> [UInt8] {
    Array(HashedName.of(try LayerCoding.data(changes.map(OutboxChange.init))).utf8)
  }
}
